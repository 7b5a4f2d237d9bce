import { isJsonObject } from '../../ground/json.ts'
import type { LineParts, ObjectRules } from '../../records/record-batch.ts'
import { createBatchRewriter } from '../../records/record-rules.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import type { Stamp } from '../connector.ts'
import { createHeldLines, type LineWriter } from '../line-writer.ts'
import { rowsOf } from '../progress/sync-progress.ts'
import { createStateBudget, parseStateJson, refuseState } from '../state.ts'
import type { StartedStream, StreamWriter } from '../stream-writer.ts'
import { recordEnds, SDC_DELETED_AT } from '../sync-columns.ts'
import { counterOf, type SingerLog } from './log.ts'

/** One message of the Singer protocol, without its line break. */
type SingerLine = string

/** A SCHEMA message, which comes before the first record of its stream. */
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

/** The value of a STATE message: a bookmark per stream. */
export interface StateValue {
  readonly bookmarks: Readonly<Record<string, unknown>>
  /** Always null: streams are read in parallel, and each bookmark says where its stream continues. */
  readonly currently_syncing: null
  readonly [key: string]: unknown
}

/** A STATE message with these bookmarks, which are JSON texts by stream, and the other members of `value`. */
function state(value: StateValue, bookmarks: ReadonlyMap<string, string>): SingerLine {
  const entries = [...bookmarks].map(([stream, text]) => `${JSON.stringify(stream)}:${text}`)
  const rest = JSON.stringify({ ...value, bookmarks: undefined, currently_syncing: null })
  return `{"type":"STATE","value":{"bookmarks":{${entries.join(',')}},${rest.slice(1)}}`
}

/** Deletes rows of older versions of the stream in targets that support it, such as those of the Meltano SDK. */
function activateVersion(stream: string, version: number): SingerLine {
  return JSON.stringify({ type: 'ACTIVATE_VERSION', stream, version })
}

const EMPTY: StateValue = { bookmarks: {}, currently_syncing: null }

/**
 * Parses a state file of this connector; an empty file is an empty state. Throws a config error if it is not valid.
 */
export function parseState(text: string, connector: string): StateValue {
  const input = parseStateJson(text, { protocol: 'tap', connector })
  if (input === null) return EMPTY
  if (typeof input !== 'object' || Array.isArray(input)) refuseState('it is not an object')
  const value = input as Record<string, unknown>
  // Some tools store the whole STATE message; `meltano state get` prints the state as a member.
  const wrapped = value['type'] === 'STATE' ? value['value'] : value['singer_state']
  const inner = 'bookmarks' in value || !isJsonObject(wrapped) ? value : wrapped
  const { currently_syncing: _, ...told } = inner
  // Bookmarks in another form would be ignored, and the rows that are gone since would stay without a word.
  if (Object.keys(told).length > 0 && !('bookmarks' in told)) refuseState('it has no bookmarks')
  const bookmarks = inner['bookmarks'] ?? {}
  if (!isJsonObject(bookmarks)) refuseState('its bookmarks are not an object')
  return { ...inner, bookmarks: bookmarks as Record<string, unknown>, currently_syncing: null }
}

/**
 * Creates all STATE messages. Each one has the bookmarks of all streams, so the budget counts the whole line. The
 * first STATE repeats the input, because some targets store whatever STATE came last; the last line of a run is
 * always a STATE.
 */
export interface StateWriter {
  /**
   * Registers a stream. `unsaved` returns its bookmark if it has records since its last STATE, otherwise undefined.
   */
  add(stream: string, unsaved: () => object | undefined): void
  /** Called when records of this many bytes have been written. */
  onRecords(bytes: number): void
  /** Whether the budget allows a STATE now. */
  allows(): boolean
  /** A STATE with this bookmark, and those of all streams with unsaved records. */
  line(stream: string, bookmark: object): SingerLine
  /** Writes a STATE with the current bookmarks. */
  write(): Promise<void> | undefined
}

/** Creates the writer of STATE messages; it starts with the bookmarks of `input`. */
export function createStateWriter(input: StateValue, writer: LineWriter): StateWriter {
  const budget = createStateBudget()
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

/** What the output of one stream needs. */
export interface SingerOutputSettings {
  readonly spec: StreamSpec
  /** The columns that order the changes of the stream, if there are any. */
  readonly cursor: readonly string[]
  /** The schema of the records after the selection. */
  readonly schema: object
  /** The fields that the catalog deselects; undefined passes records unchanged. */
  readonly rules: ObjectRules | undefined
  readonly activatesVersions: boolean
  readonly writer: LineWriter
  readonly states: StateWriter
  readonly log: SingerLog
}

/** Writes the output of one stream as messages of Singer. */
export function createSingerOutput(settings: SingerOutputSettings): StreamWriter {
  const { spec, rules, writer, states, log } = settings
  const { name: stream } = spec
  const held = createHeldLines(writer)
  const select = createBatchRewriter(rules)
  let source: StartedStream | undefined
  let isUnsaved = false
  states.add(stream, () => (isUnsaved && held.isEmpty ? bookmark() : undefined))
  return {
    started(started) {
      source = started
      log.info(`${stream}: reading`)
    },
    records(batch, stamp) {
      const lines = select(batch).lines(partsOf(spec, stamp))
      const done = held.hold(lines)
      wrote(lines)
      return done
    },
    deletes(rows, stamp) {
      const { prefix, deleteSuffix } = partsOf(spec, stamp)
      const lines = rows.map((row) => `${prefix}{${row}${deleteSuffix}`).join('')
      wrote(lines)
      return held.release(lines)
    },
    checkpoint(mustWrite) {
      if (!mustWrite) return checkpoint()
      return held.release(stateLine())
    },
    // Singer has no message for a stream that waits; the log reports it.
    note(event) {
      // Comes before the first record, and not for a stream that cannot be read, so that no table is created.
      if (event.type === 'running')
        void writer.write(`${schema(stream, settings.schema, spec.key, settings.cursor)}\n`)
      if (event.type === 'generation complete' && settings.activatesVersions)
        held.append(`${activateVersion(stream, event.generation)}\n`)
      if (event.type === 'untracked') log.metric(counterOf(stream, 'untracked_deletes', 1))
    },
    ended(isComplete) {
      const done = isComplete || isUnsaved ? checkpoint() : undefined
      if (source !== undefined) log.metric(counterOf(stream, 'record_count', rowsOf(source.counts)))
      return done
    },
    flush() {
      void held.release()
      return writer.flush()
    },
  }

  function checkpoint(): Promise<void> | undefined {
    isUnsaved = true
    return states.allows() ? held.release(stateLine()) : held.release()
  }

  function stateLine(): string {
    const known = bookmark()
    return known === undefined ? '' : states.line(stream, known)
  }

  /** The bookmark after all records, including held ones. */
  function bookmark(): object | undefined {
    isUnsaved = false
    return source?.state()
  }

  function wrote({ length }: Uint8Array | string): void {
    if (length === 0) return
    isUnsaved = true
    states.onRecords(length)
  }
}

/** The texts around each record of a batch. */
function partsOf(spec: StreamSpec, stamp: Stamp): LineParts {
  const time = stamp.now.toISOString()
  const version = spec.hasGenerations ? `,"version":${stamp.generation}` : ''
  const { live, deleted } = recordEnds(spec, SDC_DELETED_AT, stamp)
  return {
    prefix: Buffer.from(
      `{"type":"RECORD","stream":${JSON.stringify(spec.name)},"time_extracted":"${time}"${version},"record":`,
    ),
    suffix: Buffer.from(`${live}}\n`),
    deleteSuffix: Buffer.from(`${deleted}}\n`),
  }
}
