import { viewOf } from '../../records/buffers.ts'
import {
  type Batch,
  DELETE,
  type LineParts,
  type RecordVisitor,
  SKIP,
  SOFT_DELETE,
  UPSERT,
} from '../../records/record-batch.ts'
import type { Problem } from '../page-scanner.ts'
import { highest } from '../wasm-batch.ts'

/** Ends the reading; caught by the engine. */
export class Stopped extends Error {
  readonly kind: Problem['kind']
  readonly at: number

  constructor(kind: Problem['kind'], at: number) {
    super(kind)
    this.kind = kind
    this.at = at
  }
}

/** A reader waits, by yielding, whenever it has used up the bytes that are there. */
export type Reading<Result> = Generator<undefined, Result, undefined>

const MAX_DEPTH = 256
const WHITE_SPACE = ' \t\n\r'
const ESCAPES = '"\\/bfnrt'
const LITERALS: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' }

/**
 * Plain JSON (RFC 8259), one character after the other, with nothing clever in it. Characters are
 * bytes; whether they make UTF-8 is checked elsewhere.
 */
export class JsonReader {
  /** Offset in the body of the next character. */
  at = 0
  /** The text from `#base` on; what lies before `#keptFrom` may go. */
  #text = ''
  #base = 0
  #keptFrom = 0

  feed(chunk: Uint8Array): void {
    this.#text =
      this.#text.slice(this.#keptFrom - this.#base) + Buffer.from(chunk).toString('latin1')
    this.#base = this.#keptFrom
  }

  /** Nothing before the next character will be asked for again. */
  forget(): void {
    this.#keptFrom = this.at
  }

  /** What was read from `start` on, a character per byte, line breaks outside strings as spaces. */
  since(start: number): string {
    return this.#text.slice(start - this.#base, this.at - this.#base).replace(/[\r\n]/g, ' ')
  }

  /** The next character, if it is there. */
  get here(): string | undefined {
    return this.#text[this.at - this.#base]
  }

  /** The next character, without taking it. */
  *peek(): Reading<string> {
    for (;;) {
      const { here } = this
      if (here !== undefined) return here
      yield
    }
  }

  /** Takes one of the characters, or stops. */
  *take(allowed: string): Reading<string> {
    const character = this.here ?? (yield* this.peek())
    if (!allowed.includes(character)) throw new Stopped('not-json', this.at)
    this.at++
    return character
  }

  *space(): Reading<void> {
    for (;;) {
      if (!WHITE_SPACE.includes(this.here ?? (yield* this.peek()))) return
      this.at++
    }
  }

  /** Any value at the next character; `depth` is that of the container around it. */
  *value(depth: number): Reading<void> {
    const first = yield* this.peek()
    if (first === '{') yield* this.object(depth + 1, () => this.value(depth + 1))
    else if (first === '[') yield* this.array(depth + 1, () => this.value(depth + 1))
    else if (first === '"') yield* this.string()
    else if ('-0123456789'.includes(first)) yield* this.number()
    else if (first in LITERALS) for (const letter of LITERALS[first] ?? '') yield* this.take(letter)
    else throw new Stopped('not-json', this.at)
  }

  /** An object; `member` reads the value that belongs to a name (given as it stands, with quotes). */
  *object(
    depth: number,
    member: (name: string) => Reading<void>,
    nameLimit = Number.POSITIVE_INFINITY,
  ): Reading<void> {
    if (depth > MAX_DEPTH) throw new Stopped('too-deep', this.at)
    yield* this.take('{')
    yield* this.space()
    if ((yield* this.peek()) !== '}') {
      do {
        yield* this.space()
        const start = this.at
        yield* this.string(nameLimit)
        const name = this.since(start)
        yield* this.space()
        yield* this.take(':')
        yield* this.space()
        yield* member(name)
        yield* this.space()
      } while ((yield* this.take(',}')) === ',')
    } else yield* this.take('}')
  }

  /** An array; `element` reads each of its values. */
  *array(depth: number, element: () => Reading<void>): Reading<void> {
    if (depth > MAX_DEPTH) throw new Stopped('too-deep', this.at)
    yield* this.take('[')
    yield* this.space()
    if ((yield* this.peek()) !== ']') {
      do {
        yield* this.space()
        yield* element()
        yield* this.space()
      } while ((yield* this.take(',]')) === ',')
    } else yield* this.take(']')
  }

  /** A string of at most `limit` bytes, quotes and escapes included. */
  *string(limit = Number.POSITIVE_INFINITY): Reading<void> {
    const start = this.at
    yield* this.take('"')
    for (;;) {
      const character = this.here ?? (yield* this.peek())
      if (character < ' ') throw new Stopped('not-json', this.at)
      this.at++
      if (this.at - start > limit) throw new Stopped('text-too-large', start)
      if (character === '"') return
      if (character === '\\' && (yield* this.take(`${ESCAPES}u`)) === 'u') {
        for (let digit = 0; digit < 4; digit++) yield* this.take('0123456789abcdefABCDEF')
      }
    }
  }

  *number(): Reading<void> {
    if ((yield* this.peek()) === '-') yield* this.take('-')
    if ((yield* this.take('0123456789')) !== '0') yield* this.#digits()
    if ((yield* this.peek()) === '.') {
      yield* this.take('.')
      yield* this.take('0123456789')
      yield* this.#digits()
    }
    if ('eE'.includes(yield* this.peek())) {
      yield* this.take('eE')
      if ('+-'.includes(yield* this.peek())) yield* this.take('+-')
      yield* this.take('0123456789')
      yield* this.#digits()
    }
  }

  *#digits(): Reading<void> {
    while ('0123456789'.includes(this.here ?? (yield* this.peek()))) this.at++
  }
}

/** A record as the reference scanner found it. Texts have a character per byte. */
export interface ReferenceRecord {
  readonly text: string
  readonly keyText: string
  readonly version: string | undefined
  readonly isRemoved: boolean
  readonly isMarked: boolean
}

/** A batch of records that are held one by one. */
export class ReferenceBatch implements Batch {
  readonly count: number
  readonly ops: Uint8Array
  readonly keys: Float64Array
  readonly #records: readonly ReferenceRecord[]

  constructor(records: readonly ReferenceRecord[]) {
    this.#records = records
    this.count = records.length
    this.ops = Uint8Array.from(records, kindOf)
    this.keys = Float64Array.from(records, ({ keyText }) => integerOf(keyText))
  }

  get highestVersion(): string | undefined {
    return highest(this)
  }

  keyText(index: number): string {
    return Buffer.from(this.#record(index).keyText, 'latin1').toString()
  }

  versionText(index: number): string | undefined {
    return this.#record(index).version
  }

  record(index: number): Uint8Array {
    return Buffer.from(this.#record(index).text, 'latin1')
  }

  visit(index: number, visitor: RecordVisitor): void {
    visitor(viewOf(this.record(index)), 0)
  }

  lines({ prefix, suffix, deleteSuffix }: LineParts): Uint8Array<ArrayBuffer> {
    const pieces: Uint8Array[] = []
    this.#records.forEach(({ text }, index) => {
      if (this.ops[index] === SKIP) return
      const open = Buffer.from(text.slice(0, -1), 'latin1')
      pieces.push(prefix, open, this.ops[index] === UPSERT ? suffix : deleteSuffix)
    })
    return Uint8Array.from(Buffer.concat(pieces))
  }

  #record(index: number): ReferenceRecord {
    const record = this.#records[index]
    if (record === undefined) throw new RangeError(`the batch has no record ${index}`)
    return record
  }
}

function kindOf({ isRemoved, isMarked }: ReferenceRecord): number {
  if (isRemoved) return DELETE
  return isMarked ? SOFT_DELETE : UPSERT
}

function integerOf(keyText: string): number {
  const number = /^\d{1,16}$/.test(keyText) ? Number(keyText) : Number.NaN
  return Number.isSafeInteger(number) ? number : Number.NaN
}
