import { parseMessages } from './command-line.ts'
import { ConnectorError } from './errors.ts'

/** The protocols by the names of their programs; each keeps states in a form of its own. */
type Protocol = 'source' | 'tap'

/** Who reads a state file: `source-<connector>` or `tap-<connector>`. */
export interface StateReader {
  readonly protocol: Protocol
  readonly connector: string
}

/**
 * The JSON of a state file, null for an empty one; messages that were copied from the output, one per
 * line, are a list. Throws a config error when it is not JSON, or when the other program wrote it.
 */
export function parseStateJson(text: string, { protocol, connector }: StateReader): unknown {
  if (text.trim() === '') return null
  const input = parseMessages(text, (place) => refuseState(`it is not JSON at ${place}`))
  const writer = writerOf(Array.isArray(input) ? input[0] : input)
  if (writer === undefined || writer === protocol) return input
  const program = `${protocol}-${connector}`
  throw new ConnectorError(
    'config',
    `The file given by --state is a state of ${writer}-${connector}, and ${program} cannot continue from it. Give the state that ${program} wrote, or leave it out to read everything.`,
  )
}

/** Throws the config error for a state file that cannot be used; `reason` is half a sentence. */
export function refuseState(reason: string): never {
  throw new ConnectorError(
    'config',
    `The file given by --state is damaged: ${reason}. Restore it, or leave it out to read everything again.`,
  )
}

/** Which program wrote a state, if its form tells: Singer has bookmarks, Airbyte a type per entry. */
function writerOf(item: unknown): Protocol | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const { type, value, state, stream, global, bookmarks } = item as Record<string, unknown>
  if (type === 'STATE') {
    if (state !== undefined) return 'source'
    return value === undefined ? undefined : 'tap'
  }
  if (stream !== undefined || global !== undefined || type === 'STREAM') return 'source'
  return typeof bookmarks === 'object' && bookmarks !== null ? 'tap' : undefined
}
