import { isJsonObject } from '../../ground/json.ts'
import {
  type LineParts,
  type ObjectRules,
  type RecordBatch,
  SKIP,
  UPSERT,
} from '../../records/record-batch.ts'
import { createBatchRewriter } from '../../records/record-rewriter.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import { createHeldLines, type LineWriter } from '../line-writer.ts'
import { createStateBudget, parseStateJson, refuseState } from '../state.ts'
import type { Stamp, StateSource, StreamOutput } from '../stream-output.ts'
import { recordEnds, SDC_DELETED_AT } from '../sync-columns.ts'
import { counterOf, type SingerLog } from './log.ts'

/** One line of the Singer protocol, without its line break. */
type SingerLine = string

/** A schema, before the first record of its stream. */
function schema(
  stream: string,
  jsonSchema: object,
  keyProperties: readonly string[],
  bookmarkProperties: readonly string[],
): SingerLine {
  return JSON.stringify({
    type: 'SCHEMA',
    stream,
    schema: jsonSchema,
    key_properties: keyProperties,
    bookmark_properties: bookmarkProperties,
  })
}

/** The value of a STATE message: a bookmark for each stream, by its name. */
export interface StateValue {
  readonly bookmarks: Readonly<Record<string, unknown>>
  /** Always null: streams are read side by side, and each bookmark says where to continue. */
  readonly currently_syncing: null
  readonly [key: string]: unknown
}

/** A STATE with these bookmarks, given as JSON texts by stream, and with what else `value` holds. */
function state(value: StateValue, bookmarks: ReadonlyMap<string, string>): SingerLine {
  const entries = [...bookmarks].map(([stream, text]) => `${JSON.stringify(stream)}:${text}`)
  const rest = JSON.stringify({ ...value, bookmarks: undefined, currently_syncing: null })
  return `{"type":"STATE","value":{"bookmarks":{${entries.join(',')}},${rest.slice(1)}}`
}

/** Rows of older versions of the stream are gone; understood by targets of the Meltano SDK. */
function activateVersion(stream: string, version: number): SingerLine {
  return JSON.stringify({ type: 'ACTIVATE_VERSION', stream, version })
}

const EMPTY: StateValue = { bookmarks: {}, currently_syncing: null }

/** The value of a state file of this connector; throws a config error when it is none. An empty one is no state. */
export function parseState(text: string, connector: string): StateValue {
  const input = parseStateJson(text, { protocol: 'tap', connector })
  if (input === null) return EMPTY
  if (typeof input !== 'object' || Array.isArray(input)) refuseState('it is not an object')
  const value = input as Record<string, unknown>
  // Some tools keep the whole STATE message.
  const inner = value['type'] === 'STATE' && isJsonObject(value['value']) ? value['value'] : value
  const bookmarks = inner['bookmarks'] ?? {}
  if (!isJsonObject(bookmarks)) refuseState('its bookmarks are not an object')
  return { ...inner, bookmarks: bookmarks as Record<string, unknown>, currently_syncing: null }
}

/**
 * STATEs up to this size follow every page. It is that of all streams: one with some thirty streams
 * and few ids takes 30 KiB.
 */
const SMALL_STATE_BYTES = 64 * 1024

/**
 * The one place where STATE messages are made. Each holds the bookmarks of all streams, so the
 * budget is that of the whole line. The first one repeats the input, because some targets take it
 * for what they have stored; the last line of a run is always a STATE.
 */
export interface StateWriter {
  /** `unsaved` answers the bookmark of a stream with records since its last STATE, else undefined. */
  add(stream: string, unsaved: () => object | undefined): void
  /** Records of so many bytes have been written. */
  onRecords(bytes: number): void
  /** Whether a STATE is worth its size now. */
  allows(): boolean
  /** A STATE with the bookmark of this stream, and with those of all streams that are unsaved. */
  line(stream: string, bookmark: object): SingerLine
  /** Writes all bookmarks as they are. */
  write(): Promise<void> | undefined
}

/** Writes the bookmarks of `input` and what the streams add to them. */
export function createStateWriter(input: StateValue, writer: LineWriter): StateWriter {
  const budget = createStateBudget(SMALL_STATE_BYTES)
  const bookmarks = new Map(
    Object.entries(input.bookmarks).map(([stream, bookmark]) => [stream, JSON.stringify(bookmark)]),
  )
  const streams: { readonly stream: string; readonly unsaved: () => object | undefined }[] = []
  return {
    add: (stream, unsaved) => void streams.push({ stream, unsaved }),
    onRecords: budget.onRecords,
    allows: budget.allows,
    line(stream, bookmark) {
      bookmarks.set(stream, JSON.stringify(bookmark))
      return line()
    },
    write: () => writer.write(line()),
  }

  function line(): SingerLine {
    for (const { stream, unsaved } of streams) {
      const bookmark = unsaved()
      if (bookmark !== undefined) bookmarks.set(stream, JSON.stringify(bookmark))
    }
    const text = `${state(input, bookmarks)}\n`
    budget.onState(text.length)
    return text
  }
}

/** What the output of one stream is made of. */
export interface SingerOutputSettings {
  readonly spec: StreamSpec
  /** The columns that order the changes of the stream, if any do. */
  readonly cursor: readonly string[]
  /** The schema of what is left of the records. */
  readonly schema: object
  /** What the catalog deselects; undefined lets records pass as they came. */
  readonly rules: ObjectRules | undefined
  readonly activatesVersions: boolean
  readonly writer: LineWriter
  readonly states: StateWriter
  readonly log: SingerLog
}

/** Turns what a sync says of one stream into the messages of Singer. */
export function createSingerOutput(settings: SingerOutputSettings): StreamOutput {
  const { spec, rules, writer, states, log } = settings
  const { name: stream } = spec
  const counts = { records: 0, deletes: 0, isTracked: true }
  const name = JSON.stringify(stream)
  const held = createHeldLines(writer)
  const select = createBatchRewriter(rules)
  let source: StateSource | undefined
  let isUnsaved = false
  let isDescribed = false
  let isAwaited = true
  let onFirst = () => {}
  states.add(stream, () => (isUnsaved && held.isEmpty ? bookmark() : undefined))
  return {
    counts,
    selection: rules,
    flush,
    untracked() {
      if (!counts.isTracked) return
      counts.isTracked = false
      log.metric(counterOf(stream, 'untracked_deletes', 1))
    },
    onRecord(listener) {
      onFirst = listener
    },
    started(state) {
      if (source === undefined) log.info(`${stream}: reading`)
      source ??= state
    },
    running: describe,
    rateLimited: (until) =>
      log.info(`${stream}: the service asks to wait until ${until.toISOString()}`),
    // Singer has no message for it; the log says it.
    waiting: () => {},
    complete() {
      source ??= () => ({})
      const done = checkpoint()
      log.metric(counterOf(stream, 'record_count', counts.records + counts.deletes))
      return done
    },
    incomplete() {
      if (isUnsaved) void checkpoint()
      log.metric(counterOf(stream, 'record_count', counts.records + counts.deletes))
    },
    records(batch, stamp) {
      describe()
      const before = counts.records + counts.deletes
      count(batch)
      const lines = select(batch).lines(parts(stamp))
      const done = held.hold(lines)
      wrote(lines)
      if (isAwaited && counts.records + counts.deletes > before) tellFirst()
      return done
    },
    deletes(rows, stamp) {
      describe()
      const { prefix, deleteSuffix } = parts(stamp)
      counts.deletes += rows.length
      const lines = rows.map((row) => `${prefix}{${row}${deleteSuffix}`).join('')
      wrote(lines)
      return held.release(lines)
    },
    checkpoint,
    async state() {
      const known = bookmark()
      await held.release(known === undefined ? '' : states.line(stream, known))
      await flush()
    },
    generationComplete(generation) {
      if (!settings.activatesVersions) return
      describe()
      held.append(`${activateVersion(stream, generation)}\n`)
    },
  }

  function checkpoint(): Promise<void> | undefined {
    isUnsaved = true
    const known = states.allows() ? bookmark() : undefined
    return held.release(...(known === undefined ? [] : [states.line(stream, known)]))
  }

  /** Of all records, those that are held included. */
  function bookmark(): object | undefined {
    isUnsaved = false
    return source?.()
  }

  function flush(): Promise<void> {
    void held.release()
    return writer.flush()
  }

  /** Once a record has left the process: only then has its reader seen one. */
  function tellFirst(): void {
    isAwaited = false
    // An output that fails ends the run elsewhere.
    flush().then(onFirst, () => {})
  }

  /** Before the first record, and once; a stream that cannot be read at all has no table to make. */
  function describe(): void {
    if (isDescribed) return
    isDescribed = true
    void writer.write(`${schema(stream, settings.schema, spec.key, settings.cursor)}\n`)
  }

  function wrote({ length }: Uint8Array | string): void {
    if (length === 0) return
    isUnsaved = true
    states.onRecords(length)
  }

  function count({ count, ops }: RecordBatch): void {
    for (let i = 0; i < count; i++) {
      if (ops[i] === UPSERT) counts.records++
      else if (ops[i] !== SKIP) counts.deletes++
    }
  }

  function parts(stamp: Stamp): LineParts {
    const time = stamp.now.toISOString()
    const version = spec.hasGenerations ? `,"version":${stamp.generation}` : ''
    const { live, deleted } = recordEnds(spec, SDC_DELETED_AT, stamp)
    return {
      prefix: Buffer.from(
        `{"type":"RECORD","stream":${name},"time_extracted":"${time}"${version},"record":`,
      ),
      suffix: Buffer.from(`${live}}\n`),
      deleteSuffix: Buffer.from(`${deleted}}\n`),
    }
  }
}
