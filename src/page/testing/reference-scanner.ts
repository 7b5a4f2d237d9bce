import type { Batch } from '../../records/record-batch.ts'
import { guarded } from '../create-page-scanner.ts'
import type {
  PageEnd,
  PageScanner,
  Problem,
  RecordShape,
  ScanEngine,
  ScannerOptions,
} from '../page-scanner.ts'
import { namesOf } from '../wasm-engine.ts'
import {
  JsonReader,
  type Reading,
  ReferenceBatch,
  type ReferenceRecord,
  Stopped,
} from './reference-json.ts'

/** The same scanner in plain JavaScript: slow, short, and the measure for the fast one. */
export function createReferenceScanner(
  shape: RecordShape,
  options: ScannerOptions = {},
): PageScanner {
  namesOf(shape)
  return guarded(shape, options, (maxRecordBytes) => new ReferenceEngine(shape, maxRecordBytes))
}

/** The top-level members of a record, or of the data of a change, as they stand in the body. */
interface Members {
  readonly texts: Map<string, string>
  /** Where the lone object in the place of an array begins and ends. */
  lone?: readonly [number, number]
  /** The last member `data`, if it is an object. */
  data?: Members & { readonly text: string }
}

class ReferenceEngine implements ScanEngine {
  readonly #shape: RecordShape
  readonly #maxRecordBytes: number
  #json = new JsonReader()
  #page = this.#readPage()
  #records: ReferenceRecord[] = []
  #count = 0
  #itemsSeen = false
  /** Where the element under way begins. */
  #elementAt: number | undefined
  #links = new Map<string, string>()
  #progress: 'nothing' | 'begun' | 'done' = 'nothing'

  constructor(shape: RecordShape, maxRecordBytes: number) {
    this.#shape = shape
    this.#maxRecordBytes = maxRecordBytes
  }

  begin(): void {
    this.#json = new JsonReader()
    this.#page = this.#readPage()
    this.#count = 0
    this.#itemsSeen = false
    this.#elementAt = undefined
    this.#links = new Map()
    this.#progress = 'nothing'
  }

  scan(chunks: readonly Uint8Array[]): Batch | Problem {
    this.#records = []
    this.#json.feed(Buffer.concat(chunks))
    try {
      this.#page.next()
      this.#checkSize()
    } catch (error) {
      if (!(error instanceof Stopped)) throw error
      return { kind: error.kind, at: error.at, elements: this.#count }
    }
    return new ReferenceBatch(this.#records)
  }

  end(): PageEnd | Problem {
    const problem = { at: this.#json.at, elements: this.#count }
    if (this.#progress === 'nothing') return { kind: 'empty', ...problem }
    if (this.#elementAt !== undefined) return { kind: 'cut-in-element', ...problem }
    if (this.#progress !== 'done') return { kind: 'cut', ...problem }
    if (!this.#itemsSeen) return { kind: 'items-missing', ...problem }
    const nextLink = this.#links.get('nextlink')
    const deltaLink = this.#links.get('deltalink')
    return {
      ...(nextLink !== undefined && { nextLink }),
      ...(deltaLink !== undefined && { deltaLink }),
      count: this.#count,
    }
  }

  *#readPage(): Reading<void> {
    const json = this.#json
    yield* json.space()
    const first = yield* json.peek()
    if (first !== '{' && startsValue(first)) throw new Stopped('not-an-object', json.at)
    if (first === '{') this.#progress = 'begun'
    yield* json.object(1, (name) => this.#readPageMember(name), this.#maxRecordBytes)
    this.#progress = 'done'
    yield* json.space()
    throw new Stopped('trailing', json.at)
  }

  *#readPageMember(rawName: string): Reading<void> {
    const json = this.#json
    const name = foldAscii(decode(rawName))
    const first = yield* json.peek()
    if (name === 'value' && startsValue(first)) {
      if (this.#itemsSeen) throw new Stopped('items-twice', json.at)
      if (first !== '[') throw new Stopped('items-not-a-list', json.at)
      this.#itemsSeen = true
      return yield* json.array(2, () => this.#readElement())
    }
    if (name === 'nextlink' || name === 'deltalink') {
      if (first !== '"' && first !== 'n' && startsValue(first)) {
        throw new Stopped('link-not-text', json.at)
      }
      const start = json.at
      if (first === '"') yield* json.string(this.#maxRecordBytes)
      else yield* json.value(1)
      const link = json.since(start)
      if (link === 'null') this.#links.delete(name)
      else this.#links.set(name, decode(link))
    } else yield* json.value(1)
  }

  *#readElement(): Reading<void> {
    const json = this.#json
    const first = yield* json.peek()
    if (first !== '{' && startsValue(first)) throw new Stopped('element-not-an-object', json.at)
    json.forget()
    const start = json.at
    this.#elementAt = start
    const members: Members = { texts: new Map() }
    yield* json.object(3, (name) => this.#readMember(members, name))
    this.#checkSize()
    const text = arrayed(json.since(start), start, members.lone)
    this.#records.push(this.#record(members, text))
    this.#elementAt = undefined
    this.#count++
  }

  *#readMember(members: Members, rawName: string): Reading<void> {
    const json = this.#json
    const name = decode(rawName)
    const start = json.at
    if (name === 'data') delete members.data
    if (name === 'data' && (yield* json.peek()) === '{') {
      const data: Members = { texts: new Map() }
      yield* json.object(4, (inner) => this.#readDataMember(data, inner))
      members.data = { ...data, text: arrayed(json.since(start), start, data.lone) }
    } else yield* json.value(3)
    this.#keep(members, name, start)
  }

  *#readDataMember(data: Members, rawName: string): Reading<void> {
    const start = this.#json.at
    yield* this.#json.value(4)
    this.#keep(data, decode(rawName), start)
  }

  /** Takes down the value that was read from `start` on. */
  #keep(members: Members, name: string, start: number): void {
    const text = this.#json.since(start)
    members.texts.set(name, text)
    if (name !== this.#shape.array) return
    delete members.lone
    if (text.startsWith('{')) members.lone = [start, this.#json.at]
  }

  #record(members: Members, text: string): ReferenceRecord {
    const changeType = stringOf(members.texts.get('changeType'))
    const change = changeType === undefined ? undefined : members.data
    const { texts } = change ?? members
    const { key, version, deleted } = this.#shape
    const keyText = texts.get(key)
    if (keyText === undefined || keyText === 'null') {
      throw new Stopped('element-without-key', this.#json.at)
    }
    return {
      text: change?.text ?? text,
      keyText,
      version: stringOf(texts.get(version)),
      isRemoved: change !== undefined && changeType === 'Delete',
      isMarked: deleted !== undefined && stringOf(texts.get(deleted.field)) === deleted.value,
    }
  }

  #checkSize(): void {
    const { at } = this.#json
    if (at - (this.#elementAt ?? at) > this.#maxRecordBytes) {
      throw new Stopped('element-too-large', at)
    }
  }
}

/** The text of an object that begins at `start`, with brackets around its lone object. */
function arrayed(text: string, start: number, lone: Members['lone']): string {
  if (lone === undefined) return text
  const [from, to] = [lone[0] - start, lone[1] - start]
  return `${text.slice(0, from)}[${text.slice(from, to)}]${text.slice(to)}`
}

function startsValue(character: string): boolean {
  return '{["-0123456789tfn'.includes(character)
}

function decode(raw: string): string {
  return JSON.parse(Buffer.from(raw, 'latin1').toString())
}

function stringOf(raw: string | undefined): string | undefined {
  return raw?.startsWith('"') ? decode(raw) : undefined
}

/** Lower case for the letters of ASCII only. */
function foldAscii(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}
