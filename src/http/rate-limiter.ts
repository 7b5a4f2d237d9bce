import { REAL_TIME, type Time } from './clock.ts'

/** Numbers an admitted request, so that several refusals of requests that were sent together count once. */
export type Permit = number

/** Admits requests. A tenant has one, which all streams and the token endpoint share. */
export interface RateLimiter {
  /** Resolves when the next request may be sent; callers are admitted in the order of their calls. */
  acquire(signal: AbortSignal): Promise<Permit>
  /** The service refused a request: no request is admitted for this time, and fewer afterwards. */
  onThrottled(admission: Permit, waitMs: number): void
  /** The service accepted a request. */
  onSuccess(): void
}

/** The maximum and minimum period over which the accepted rate is measured. */
const LONGEST_MEASURE_MS = 5_000
const SHORTEST_MEASURE_MS = 250
/** The rate reaches the refused one again after 0.8 of this time, and twice that after 1.8 of it. */
const GROWTH_MS = 12_000
/** Late requests may catch up by this much: timers are late, and pages come in bursts. */
const CATCH_UP_MS = 250

/**
 * Creates a limiter without a limit until the service refuses a request. From then on it follows the rate at which
 * the service last refused one (docs/decisions/the-rate-limiter-finds-the-limit.md). `requestsPerMinute` is an upper limit from the start.
 */
export function createRateLimiter(
  requestsPerMinute: number | undefined,
  { now, sleep }: Pick<Time, 'now' | 'sleep'> = REAL_TIME,
): RateLimiter {
  const bound = requestsPerMinute === undefined ? 0 : 60_000 / requestsPerMinute
  const pace = createPace()
  let heldUntil = now()
  let nextTurn = heldUntil
  let boundUntil = heldUntil
  let lastTurn: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let admitted: Permit = 0
  /** The last request that had been sent when a refusal was counted. */
  let answered: Permit = 0
  return {
    acquire(signal) {
      // The fast path while the service refuses nothing.
      if (waiting === 0 && !signal.aborted && waitMs() <= 0) return Promise.resolve(admit())
      waiting++
      const turn = lastTurn
        .then(() => pass(signal))
        .finally(() => {
          waiting--
        })
      lastTurn = turn.catch(() => {})
      return turn
    },
    onThrottled(admission, waitMs) {
      heldUntil = Math.max(heldUntil, now() + waitMs)
      if (admission > answered) {
        pace.refused(now())
        answered = admitted
      }
      pace.resume(heldUntil)
      nextTurn = heldUntil
    },
    onSuccess: () => pace.accepted(now()),
  }

  async function pass(signal: AbortSignal): Promise<Permit> {
    signal.throwIfAborted()
    for (let wait = waitMs(); wait > 0; wait = waitMs()) await sleep(wait, signal)
    return admit()
  }

  function admit(): Permit {
    nextTurn = Math.max(nextTurn, now() - CATCH_UP_MS) + 1000 / pace.perSecond(now())
    boundUntil = now() + bound
    return ++admitted
  }

  function waitMs(): number {
    return Math.max(heldUntil, nextTurn, boundUntil) - now()
  }
}

/** The rate that the service is expected to accept: a cubic curve around the last refused rate. */
function createPace() {
  let accepted: number[] = []
  let since: number | undefined
  /** Requests per second at the last refusal. */
  let ceiling = Number.POSITIVE_INFINITY
  return {
    accepted(at: number): void {
      since ??= at
      accepted.push(at)
      if ((accepted[0] ?? at) < at - LONGEST_MEASURE_MS) accepted.shift()
    },
    refused(at: number): void {
      const from = Math.max(since ?? at, at - LONGEST_MEASURE_MS)
      const count = accepted.filter((time) => time >= from).length
      // No request was accepted since the last refusal, so this one says nothing about the rate.
      if (count === 0 && ceiling !== Number.POSITIVE_INFINITY) return
      ceiling = (Math.max(1, count) / Math.max(SHORTEST_MEASURE_MS, at - from)) * 1000
    },
    /** Restarts the curve at half of the rate, at the time of the next request. */
    resume(at: number): void {
      accepted = []
      since = at
    },
    perSecond(at: number): number {
      return ceiling * (1 + ((at - (since ?? at)) / GROWTH_MS - Math.cbrt(0.5)) ** 3)
    },
  }
}
