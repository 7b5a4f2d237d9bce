import type { Problem } from './damage.ts'

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
  /** What was read since the last `forget`, a character per byte, line breaks outside strings as spaces. */
  kept = ''
  /** Offset in the body of the next character. */
  at = 0
  #text = ''
  #next = 0

  feed(chunk: Uint8Array): void {
    this.#text = Buffer.from(chunk).toString('latin1')
    this.#next = 0
  }

  forget(): void {
    this.kept = ''
  }

  /** The next character, without taking it. */
  *peek(): Reading<string> {
    while (this.#next === this.#text.length) yield
    return this.#text[this.#next] ?? ''
  }

  /** Takes one of the characters, or stops. */
  *take(allowed: string): Reading<string> {
    const character = yield* this.peek()
    if (!allowed.includes(character)) throw new Stopped('not-json', this.at)
    return this.#advance(character)
  }

  #advance(character: string): string {
    this.kept += character
    this.#next++
    this.at++
    return character
  }

  *space(): Reading<void> {
    for (;;) {
      const character = yield* this.peek()
      if (!WHITE_SPACE.includes(character)) return
      this.#advance(character)
      if (character === '\n' || character === '\r') this.kept = `${this.kept.slice(0, -1)} `
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
        const start = this.kept.length
        yield* this.string(nameLimit)
        const name = this.kept.slice(start)
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
      const character = yield* this.peek()
      if (character < ' ') throw new Stopped('not-json', this.at)
      this.#advance(character)
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
    while ('0123456789'.includes(yield* this.peek())) yield* this.take('0123456789')
  }
}
