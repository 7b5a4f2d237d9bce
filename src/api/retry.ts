import { ConnectorError } from '../errors.ts'
import { httpDateMs } from './http-date.ts'

/** How often and how patiently failures are given another chance; times in milliseconds. */
export interface Patience {
  /** Attempts of a request in all, the first included. */
  readonly attempts: number
  /** Upper bound of the first wait between them; it doubles with each attempt. */
  readonly baseMs: number
  readonly capMs: number
  /** Wait before a damaged page is asked for again; grows with each time. */
  readonly pageMs: number
  /** Waits before a conflict on a delta is asked again; then it is an error. */
  readonly conflictMs: readonly number[]
  /** How long a body may take for its first 4 MiB, or for its next record; 5 minutes if left out. */
  readonly bodyMs?: number
}

/** About 8 seconds a request in all on average; longer outages are the platform's own retries. */
export const PATIENCE: Patience = {
  attempts: 6,
  baseMs: 500,
  capMs: 30_000,
  pageMs: 300,
  conflictMs: [1000, 2000, 4000],
}

/**
 * The longest wait that a Retry-After can ask for: the platform takes a source that sends no
 * record and no state for dead after hours (heartbeat), so a longer one ends the stream as transient.
 */
export const LONGEST_WAIT_MS = 15 * 60_000

/** The failure of a body that drips: each byte arrives in time, but never enough of them. */
export function tooSlow(): ConnectorError {
  return new ConnectorError(
    'transient',
    'The service sends its answer too slowly to ever end. The next sync continues here.',
  )
}

/** See `Patience.bodyMs`: a small page at 14 kB/s. */
export const SLOWEST_BODY_MS = 5 * 60_000

/** Full jitter: any time up to the doubled bound, so that clients do not return in step. */
export function backoffMs(attempt: number, policy: Patience, random: () => number): number {
  return random() * Math.min(policy.capMs, policy.baseMs * 2 ** attempt)
}

/** The wait a Retry-After header asks for in milliseconds, given in seconds or as a date. */
export function retryAfterMs(header: string | undefined, now: Date): number | undefined {
  const text = header?.trim()
  if (text === undefined || text === '') return undefined
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  const time = httpDateMs(text)
  return time === undefined ? undefined : Math.max(0, time - now.getTime())
}

/** Statuses that a repetition may heal (api.md section 8). */
export function isPassing(status: number): boolean {
  return (
    status === 408 ||
    status === 425 ||
    status === 429 ||
    (status >= 500 && status < 600 && status !== 501)
  )
}

/** Sleeps, and rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/** The failure of a wait that is longer than the platform's patience. */
export function tooLongToWait(ms: number): ConnectorError {
  return new ConnectorError(
    'transient',
    `The service asks to wait ${Math.ceil(ms / 60_000)} minutes, which is longer than a sync can stay silent. The next sync continues here.`,
  )
}
