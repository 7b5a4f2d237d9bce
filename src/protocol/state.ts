import { ConnectorError } from '../ground/errors.ts'
import { parseMessages } from './command-line.ts'

/** The bytes of STATEs that a sync may write in addition to one for each `RECORD_BYTES_PER_STATE_BYTE` of records. */
const FREE_BYTES = 1024 * 1024
/**
 * To make a STATE takes much longer than to copy as many bytes of records, and platforms keep STATEs in memory until
 * the rows before them are committed. After a kill, what these records took is read again, or a minute's.
 */
const RECORD_BYTES_PER_STATE_BYTE = 2400
/** After this time a STATE is written whatever its size. */
const LONGEST_MS = 60_000

/** Decides after which pages a STATE is written: after each one in small syncs, less often in large ones. */
export interface StateBudget {
  /** Called when records of this many bytes have been written. */
  onRecords(bytes: number): void
  /** Called when a STATE has been written; `bytes` is the size of its whole line. */
  onState(bytes: number): void
  /** Whether another STATE of the same size as the last one may be written now. */
  allows(): boolean
}

/** Creates the budget of a sync. `now` returns milliseconds of a monotonic clock. */
export function createStateBudget(now: () => number = () => performance.now()): StateBudget {
  let recordBytes = 0
  let stateBytes = 0
  let lastBytes = 0
  let lastAt = now()
  return {
    onRecords(bytes) {
      recordBytes += bytes
    },
    onState(bytes) {
      stateBytes += bytes
      lastBytes = bytes
      lastAt = now()
    },
    allows() {
      const allowed = FREE_BYTES + recordBytes / RECORD_BYTES_PER_STATE_BYTE
      return stateBytes + lastBytes <= allowed || now() - lastAt >= LONGEST_MS
    },
  }
}

/** The protocols, named after their programs. Each has its own form of state. */
type Protocol = 'source' | 'tap'

/** The program that reads a state file: `source-<connector>` or `tap-<connector>`. */
export interface StateReader {
  readonly protocol: Protocol
  readonly connector: string
}

/**
 * Parses a state file; null for an empty one, and an array for messages that were copied from the output, one per
 * line. Throws a config error if it is not JSON or was written by the program of the other protocol.
 */
export function parseStateJson(text: string, { protocol, connector }: StateReader): unknown {
  if (text.trim() === '') return null
  const input = parseMessages(text, (place) => refuseState(`it is not JSON at ${place}`))
  const writer = writerOf(Array.isArray(input) ? input[0] : input)
  if (writer === undefined || writer === protocol) return input
  const program = `${protocol}-${connector}`
  throw new ConnectorError(
    'config',
    'state-of-another-program',
    `The file given by --state is a state of ${writer}-${connector}, and ${program} cannot continue from it. Give the state that ${program} wrote, or leave it out to read everything.`,
  )
}

/** Throws the config error for a state file that cannot be used. `reason` is a clause without a full stop. */
export function refuseState(reason: string): never {
  throw new ConnectorError(
    'config',
    'state-damaged',
    `The file given by --state is damaged: ${reason}. Restore it, or leave it out to read everything again.`,
  )
}

/** The program that wrote a state, if its form tells: Singer has bookmarks, Airbyte a type per entry. */
function writerOf(item: unknown): Protocol | undefined {
  if (typeof item !== 'object' || item === null) return undefined
  const message = item as Record<string, unknown>
  const { type, value, state, stream, global, bookmarks = message['singer_state'] } = message
  if (type === 'STATE') {
    if (state !== undefined) return 'source'
    return value === undefined ? undefined : 'tap'
  }
  if (stream !== undefined || global !== undefined || type === 'STREAM') return 'source'
  return typeof bookmarks === 'object' && bookmarks !== null ? 'tap' : undefined
}
