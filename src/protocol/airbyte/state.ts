import { parseStateJson, refuseState } from '../state-file.ts'

/**
 * The states of streams in a state file, by name. Takes every form that a platform or PyAirbyte may
 * pass: an empty file or list, STREAM and GLOBAL messages, and the legacy object of streams; and STATE
 * messages as `read` prints them, of which the last of each stream counts.
 * What a blob holds is not looked at here. Throws a config error for a file that has no such form.
 */
export function parseStateFile(text: string, connector: string): ReadonlyMap<string, unknown> {
  const input = parseStateJson(text, { protocol: 'source', connector })
  if (input === null) return new Map()
  if (!Array.isArray(input))
    return typeof input === 'object' ? legacy(input) : refuseState('it is not a list')
  return new Map(input.flatMap(entries))
}

type Entry = readonly [name: string, blob: unknown]

function entries(item: unknown): Entry[] {
  const { type, state, stream, global, data } = (item ?? {}) as Record<string, unknown>
  if (type === 'STATE') return entries(state)
  if (type === 'GLOBAL') {
    const states = (global as { stream_states?: unknown } | null)?.stream_states
    return Array.isArray(states)
      ? states.map(streamEntry)
      : refuseState('its global state has no streams')
  }
  if (stream !== undefined) return [streamEntry(stream)]
  if (typeof data === 'object' && data !== null) return [...legacy(data)]
  return refuseState('one of its entries is no state message')
}

function streamEntry(stream: unknown): Entry {
  const { stream_descriptor, stream_state } = (stream ?? {}) as Record<string, unknown>
  const name = (stream_descriptor as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string'
    ? [name, stream_state]
    : refuseState('one of its entries names no stream')
}

function legacy(input: object): ReadonlyMap<string, unknown> {
  // A single message that somebody saved by hand is taken as well.
  if ('type' in input && ('stream' in input || 'global' in input || 'state' in input))
    return new Map(entries(input))
  return new Map(Object.entries(input))
}
