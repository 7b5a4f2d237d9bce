import { isJsonObject } from '../../ground/json.ts'
import type { LineWriter } from '../line-writer.ts'
import { createStateBudget, parseStateJson, refuseState } from '../state.ts'

/** One line of the Singer protocol, without its line break. */
export type SingerLine = string

/** A schema, before the first record of its stream. */
export function schema(
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
export function activateVersion(stream: string, version: number): SingerLine {
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
