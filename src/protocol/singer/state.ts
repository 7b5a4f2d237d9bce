import { type Cadence, createCadence } from '../cadence.ts'
import type { LineWriter } from '../records/line-writer.ts'
import { parseStateJson, refuseState } from '../state-file.ts'
import { type StateValue, state } from './messages.ts'

const EMPTY: StateValue = { bookmarks: {}, currently_syncing: null }

/** The value of a state file; throws a config error when it is none. An empty one is no state. */
export function parseState(text: string): StateValue {
  const input = parseStateJson(text, 'tap-protime')
  if (input === null) return EMPTY
  if (typeof input !== 'object' || Array.isArray(input)) refuseState('it is not an object')
  const value = input as Record<string, unknown>
  // Some tools keep the whole STATE message.
  const inner = value['type'] === 'STATE' && isObject(value['value']) ? value['value'] : value
  const bookmarks = inner['bookmarks'] ?? {}
  if (!isObject(bookmarks)) refuseState('its bookmarks are not an object')
  return { ...inner, bookmarks: bookmarks as Record<string, unknown>, currently_syncing: null }
}

/**
 * The one place where STATE messages are made: each holds the bookmarks of all streams, so their
 * cadence is that of the whole line. The first one repeats the input, because some targets take
 * it for what they have stored; the last line of a run is always a STATE.
 */
export interface StateKeeper {
  readonly cadence: Cadence
  /**
   * Takes the bookmark of a stream and writes a STATE, unless the bookmarks of all streams are so
   * large together that it has to wait for a later one.
   */
  keep(stream: string, bookmark: object): Promise<void> | undefined
  /** Writes all bookmarks as they are. */
  write(): Promise<void> | undefined
}

export function createStateKeeper(input: StateValue, writer: LineWriter): StateKeeper {
  const cadence = createCadence()
  const bookmarks = { ...input.bookmarks }
  return { cadence, keep, write }

  function keep(stream: string, bookmark: object): Promise<void> | undefined {
    bookmarks[stream] = bookmark
    return cadence.isDue() || cadence.isAffordable() ? write() : undefined
  }

  function write(): Promise<void> | undefined {
    const line = `${state({ ...input, bookmarks, currently_syncing: null })}\n`
    cadence.stated(line.length)
    return writer.write(line)
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
