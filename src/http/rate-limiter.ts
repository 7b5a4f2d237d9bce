import { REAL_TIME, type Time } from './clock.ts'

/** Names a request that was let through, so that refusals of requests sent together count once. */
export type Permit = number

/** Admits requests; one for a tenant, shared by all streams and the token endpoint. */
export interface RateLimiter {
  /** Resolves when the next request may be sent, in the order of asking. */
  acquire(signal: AbortSignal): Promise<Permit>
  /** The service refused a request: nobody is admitted for that long, then fewer than before. */
  onThrottled(admission: Permit, waitMs: number): void
  /** The service took a request. */
  onSuccess(): void
}

/** The rate of a service is what it took in so long, at most and at least. */
const LONGEST_MEASURE_MS = 5_000
const SHORTEST_MEASURE_MS = 250
/** The rate is back where it was refused after 0.8 of this time, and twice that after 1.8 of it. */
const GROWTH_MS = 12_000
/** Turns that were missed by this much are made up for: timers are late, and pages come in gusts. */
const CATCH_UP_MS = 250

/**
 * A limiter without a limit until the service refuses a request. From then on it follows the rate
 * at which it was last refused (docs/decisions/requests.md). `requestsPerMinute` is an upper
 * bound that holds from the start.
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
  /** The last request that was on its way when the service was found to refuse. */
  let answered: Permit = 0
  return {
    acquire(signal) {
      // A service that does not refuse costs nothing but this.
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

/** The rate that the service is thought to take: a cubic curve around the one it last refused. */
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
      // Nothing was taken since the last refusal: that says nothing of the rate.
      if (count === 0 && ceiling !== Number.POSITIVE_INFINITY) return
      ceiling = (Math.max(1, count) / Math.max(SHORTEST_MEASURE_MS, at - from)) * 1000
    },
    /** The curve begins at half the rate when the service is asked again. */
    resume(at: number): void {
      accepted = []
      since = at
    },
    perSecond(at: number): number {
      if (ceiling === Number.POSITIVE_INFINITY) return ceiling
      return ceiling * (1 + ((at - (since ?? at)) / GROWTH_MS - Math.cbrt(0.5)) ** 3)
    },
  }
}
