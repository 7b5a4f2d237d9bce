import { ConnectorError } from '../ground/errors.ts'
import { parseMessages } from './command-line.ts'

/** All STATEs above the small size together may take this much, */
const FREE_BYTES = 768 * 1024
/** plus one byte for this many bytes of records. */
const RECORD_BYTES_PER_STATE_BYTE = 60
/** Platforms and destinations hold STATEs until the rows before them are committed, which takes minutes. */
const MOST_BYTES_PER_MINUTE = 8_000_000
/** After this long a STATE is worth its size. */
const LONGEST_MS = 60_000

/** Decides which pages a STATE follows: every one while STATEs are small, fewer as they grow. */
export interface StateBudget {
  /** Records of so many bytes have been written. */
  onRecords(bytes: number): void
  /** A STATE has been written; `bytes` is its whole line. */
  onState(bytes: number): void
  /** Whether another STATE of the last one's size may be written now. */
  allows(): boolean
}

/**
 * `smallBytes` is the size up to which a STATE follows every page. `now` gives milliseconds of a
 * monotonic clock.
 */
export function createStateBudget(
  smallBytes: number,
  now: () => number = () => performance.now(),
): StateBudget {
  let recordBytes = 0
  let stateBytes = 0
  let lastBytes = 0
  let lastAt = now()
  /** Large STATEs of the last minute. */
  let recent: { readonly at: number; readonly bytes: number }[] = []
  return {
    onRecords(bytes) {
      recordBytes += bytes
    },
    onState(bytes) {
      lastBytes = bytes
      lastAt = now()
      if (bytes <= smallBytes) return
      stateBytes += bytes
      recent.push({ at: lastAt, bytes })
    },
    allows() {
      if (lastBytes <= smallBytes) return true
      const at = now()
      recent = recent.filter((state) => at - state.at < LONGEST_MS)
      const inLastMinute = recent.reduce((sum, { bytes }) => sum + bytes, lastBytes)
      if (inLastMinute > MOST_BYTES_PER_MINUTE) return false
      const isWorthIt =
        stateBytes + lastBytes <= FREE_BYTES + recordBytes / RECORD_BYTES_PER_STATE_BYTE
      return isWorthIt || at - lastAt >= LONGEST_MS
    },
  }
}

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
    'state-of-another-program',
    `The file given by --state is a state of ${writer}-${connector}, and ${program} cannot continue from it. Give the state that ${program} wrote, or leave it out to read everything.`,
  )
}

/** Throws the config error for a state file that cannot be used; `reason` is half a sentence. */
export function refuseState(reason: string): never {
  throw new ConnectorError(
    'config',
    'state-damaged',
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
