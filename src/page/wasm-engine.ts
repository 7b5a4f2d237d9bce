import {
  acquireBuffer,
  type LineParts,
  type ObjectRules,
  type RecordBatch,
  SKIP,
  UPSERT,
} from '../records/record-batch.ts'
import { combinedRules } from '../records/record-rules.ts'
import {
  type PageEnd,
  type Problem,
  problemKinds,
  type RecordShape,
  type ScanEngine,
  type ScannerOptions,
} from './page-scanner.ts'
import { createRuleAnswers, type RuleAnswers } from './rule-answers.ts'
import type { ScanExports, ScanHost, ScanModule } from './scan-module.ts'

/** The texts that the scanner compares with, in the order of their numbers (1 to 15) in the scanner. */
function namesOf({ key, version, deleted, array, date }: RecordShape): readonly string[] {
  const names = [
    key,
    version,
    deleted?.field ?? key,
    array ?? key,
    date ?? key,
    'data',
    'changeType',
    'value',
    'nextlink',
    'deltalink',
    deleted?.value ?? '',
    'Delete',
    'InsertOrUpdate',
    'Insert',
    'Update',
  ]
  for (const name of names) {
    if (!/^[ !#-[\]-~]{0,256}$/.test(name)) {
      throw new TypeError(
        `cannot look for ${JSON.stringify(name)}: use at most 256 plain characters`,
      )
    }
  }
  return names
}

/** A larger memory is released at the next page, so that one huge record does not keep it. */
const KEEP_MEMORY_BYTES = 40 * 1024 * 1024
/** The results of `place()`. */
const DONE = 1
const NOTHING_YET = 2
const IN_ELEMENT = 3

/** Creates the engine of a scanner. Each engine has its own memory. */
export function createWasmEngine(
  module: ScanModule,
  shape: RecordShape,
  maxRecordBytes: number,
  { rules, selection }: Pick<ScannerOptions, 'rules' | 'selection'> = {},
): ScanEngine {
  return new WasmEngine(module, namesOf(shape), maxRecordBytes, { rules, selection })
}

class WasmEngine implements ScanEngine {
  readonly #module: ScanModule
  readonly #names: readonly string[]
  readonly #maxRecordBytes: number
  readonly #answers: RuleAnswers | undefined
  readonly #selection: ObjectRules | undefined
  #wasm: ScanExports
  /** False during a scan, and after one that failed, because the memory may be inconsistent. */
  #isSound = true
  /** The offset in the body after the last chunk. */
  #bytes = 0
  #nextLink: string | undefined
  #deltaLink: string | undefined

  constructor(
    module: ScanModule,
    names: readonly string[],
    maxRecordBytes: number,
    { rules, selection }: Pick<ScannerOptions, 'rules' | 'selection'>,
  ) {
    this.#module = module
    this.#names = names
    this.#maxRecordBytes = maxRecordBytes
    const all = combinedRules(rules, selection)
    this.#answers = all && createRuleAnswers(all)
    this.#selection = selection
    this.#wasm = this.#instantiate()
    this.begin()
  }

  begin(): void {
    const isLarge = this.#wasm.memory.buffer.byteLength > KEEP_MEMORY_BYTES
    if (isLarge || !this.#isSound) this.#wasm = this.#instantiate()
    this.#isSound = true
    this.#wasm.begin(this.#maxRecordBytes)
    this.#bytes = 0
    this.#nextLink = undefined
    this.#deltaLink = undefined
  }

  scan(chunks: readonly Uint8Array[]): RecordBatch | Problem {
    if (!this.#isSound) throw new Error('the previous scan has failed: start the page again')
    this.#isSound = false
    const wasm = this.#wasm
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
    const at = wasm.prepare(length) >>> 0
    const memory = new Uint8Array(wasm.memory.buffer)
    let to = at
    for (const chunk of chunks) {
      memory.set(chunk, to)
      to += chunk.length
    }
    const problem = wasm.scan()
    if (problem !== 0) {
      const kind = problemKinds[problem - 1] ?? 'not-json'
      return {
        kind,
        at: this.#bytes + (wasm.problemAt.value >>> 0) - at,
        elements: wasm.elements.value,
      }
    }
    this.#isSound = true
    this.#bytes += length
    this.#takeLinks()
    return new WasmBatch(wasm, this.#selection)
  }

  end(): PageEnd | Problem {
    const { elements, itemsSeen } = this.#wasm
    const place = this.#wasm.place()
    if (place !== DONE) {
      const kind = place === NOTHING_YET ? 'empty' : place === IN_ELEMENT ? 'cut-in-element' : 'cut'
      return { kind, at: this.#bytes, elements: elements.value }
    }
    if (itemsSeen.value === 0) return { kind: 'items-missing', at: this.#bytes, elements: 0 }
    return { nextLink: this.#nextLink, deltaLink: this.#deltaLink, count: elements.value }
  }

  readonly #host: ScanHost = {
    askRule: (subject, start, end, depth) =>
      this.#rules.rule(subject, this.#textAt(start, end), depth),
    askReplacement: (subject, start, end) => {
      const value = this.#textAt(start, end).toString('utf8')
      const text = Buffer.from(this.#rules.replacement(subject, value))
      const at = this.#wasm.room(text.length) >>> 0
      return text.copy(this.#textAt(at, at + text.length))
    },
  }

  get #rules(): RuleAnswers {
    if (this.#answers === undefined) throw new Error('there are no rules to ask about')
    return this.#answers
  }

  /** The memory between two positions. The buffer changes when the memory grows. */
  #textAt(start: number, end: number): Buffer {
    return Buffer.from(this.#wasm.memory.buffer, start >>> 0, (end >>> 0) - (start >>> 0))
  }

  #takeLinks(): void {
    const { nextLinkAt, nextLinkEnd, deltaLinkAt, deltaLinkEnd } = this.#wasm
    if (nextLinkAt.value !== 0) this.#nextLink = this.#link(nextLinkAt.value, nextLinkEnd.value)
    if (deltaLinkAt.value !== 0) this.#deltaLink = this.#link(deltaLinkAt.value, deltaLinkEnd.value)
  }

  #link(at: number, end: number): string {
    return JSON.parse(this.#textAt(at, end).toString())
  }

  #instantiate(): ScanExports {
    const wasm = this.#module.instantiate(this.#host)
    if (this.#answers !== undefined) wasm.useRules(this.#answers.root)
    this.#names.forEach((name, index) => {
      Buffer.from(wasm.memory.buffer).write(name, wasm.nameAt(index + 1), 'latin1')
      wasm.name(index + 1, name.length)
    })
    return wasm
  }
}

/** The layout of a row in 32-bit words: see `wasm/memory.ts`. */
const ROW_WORDS = 12
const LONE_START = 6
const LONE_END = 7
const FLAGS = 8
const DATE = 9
const CAME_START = 10
const CAME_END = 11
const ESCAPED_VERSION = 4
const DATE_LENGTH = 10
/** Special results of `highestVersion`, and the room for the parts of a line: see `wasm/version.ts` and `wasm/memory.ts`. */
const NO_VERSION = -1
const UNPLAIN_VERSION = -2
const PARTS_ROOM = 65_536 - 16
/** The brackets around a single object that replaces an array. */
const OPENING = Buffer.from('[')
const CLOSING = Buffer.from(']')

/** A batch in the memory of its scanner. */
class WasmBatch implements RecordBatch {
  readonly count: number
  readonly ops: Uint8Array
  readonly keys: Float64Array
  readonly isRising: boolean
  readonly selection: ObjectRules | undefined
  /** The scanner has already checked the JSON. */
  readonly fault = null
  readonly #wasm: ScanExports
  readonly #bytes: Buffer
  readonly #rows: Uint32Array

  constructor(wasm: ScanExports, selection: ObjectRules | undefined) {
    const { buffer } = wasm.memory
    this.#wasm = wasm
    this.selection = selection
    this.count = wasm.count.value
    this.#bytes = Buffer.from(buffer)
    this.isRising = wasm.isRising.value !== 0
    this.#rows = new Uint32Array(buffer, wasm.rowsAt.value >>> 0, this.count * ROW_WORDS)
    this.keys = new Float64Array(buffer, wasm.keysAt.value >>> 0, this.count)
    this.ops = new Uint8Array(buffer, wasm.kindsAt.value >>> 0, this.count)
  }

  keyText(index: number): string {
    return this.#bytes.toString('utf8', this.#word(index, 2), this.#word(index, 3))
  }

  versionText(index: number): string | undefined {
    const start = this.#word(index, 4)
    if (start === 0) return undefined
    const text = this.#bytes.toString('utf8', start, this.#word(index, 5))
    return (this.#word(index, FLAGS) & ESCAPED_VERSION) === 0 ? text : JSON.parse(`"${text}"`)
  }

  dateText(index: number): string | undefined {
    const start = this.#word(index, DATE)
    return start === 0 ? undefined : this.#bytes.toString('latin1', start, start + DATE_LENGTH)
  }

  get highestVersion(): string | undefined {
    const index = this.#wasm.highestVersion.value
    if (index === NO_VERSION) return undefined
    return index === UNPLAIN_VERSION ? highest(this) : this.versionText(index)
  }

  record(index: number): Uint8Array {
    const start = this.#word(index, 0)
    const end = this.#word(index, 1)
    const loneStart = this.#word(index, LONE_START)
    if (loneStart === 0) return this.#bytes.subarray(start, end)
    const loneEnd = this.#word(index, LONE_END)
    return Buffer.concat([
      this.#bytes.subarray(start, loneStart),
      OPENING,
      this.#bytes.subarray(loneStart, loneEnd),
      CLOSING,
      this.#bytes.subarray(loneEnd, end),
    ])
  }

  received(index: number): Uint8Array {
    if (this.#word(index, LONE_START) !== 0) return this.record(index)
    return this.#bytes.subarray(this.#word(index, CAME_START), this.#word(index, CAME_END))
  }

  lines(parts: LineParts): Uint8Array {
    const { prefix, suffix, deleteSuffix } = parts
    const sizes = [prefix.length, suffix.length, deleteSuffix.length] as const
    const most =
      this.#wasm.recordBytes.value +
      this.count * (prefix.length + Math.max(suffix.length, deleteSuffix.length))
    const out = acquireBuffer(most)
    const fits = prefix.length + suffix.length + deleteSuffix.length <= PARTS_ROOM
    if (fits)
      this.#bytes.set(Buffer.concat([prefix, suffix, deleteSuffix]), this.#wasm.partsAt.value)
    let at = 0
    for (let index = 0; index < this.count; ) {
      if (fits) {
        index = this.#wasm.fill(index, ...sizes)
        const from = this.#wasm.windowAt.value
        const size = this.#wasm.filled.value
        out.set(this.#bytes.subarray(from, from + size), at)
        at += size
      }
      // The window is full, or this record cannot be written to it.
      if (index < this.count && (!fits || this.#wasm.filled.value === 0)) {
        at += this.#line(index++, parts, out, at)
      }
    }
    return out.subarray(0, at)
  }

  #line(
    index: number,
    { prefix, suffix, deleteSuffix }: LineParts,
    out: Buffer,
    at: number,
  ): number {
    const kind = this.ops[index]
    if (kind === SKIP) return 0
    const record = this.record(index)
    const end = kind === UPSERT ? suffix : deleteSuffix
    out.set(prefix, at)
    out.set(record, at + prefix.length)
    out.set(end, at + prefix.length + record.length - 1)
    return prefix.length + record.length - 1 + end.length
  }

  #word(index: number, word: number): number {
    const value = this.#rows[index * ROW_WORDS + word]
    if (value === undefined) throw new RangeError(`the batch has no record ${index}`)
    return value
  }
}

/** The highest version of a batch, compared as strings. */
export function highest(batch: Pick<RecordBatch, 'count' | 'versionText'>): string | undefined {
  let best: string | undefined
  for (let index = 0; index < batch.count; index++) {
    const version = batch.versionText(index)
    if (version !== undefined && (best === undefined || version > best)) best = version
  }
  return best
}
