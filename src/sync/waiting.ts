import type { Trouble } from '../http/exchange.ts'
import { REAL_TIME, type Time } from '../http/time.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamOutput } from '../protocol/stream-output.ts'

const MINUTE_MS = 60_000
/** How exactly the minutes are kept. */
const TICK_MS = 10_000

/** Says so each minute as long as something is waited for. */
export interface Waiting {
  /** The minutes count from now: what is waited for from here on is something new. */
  restart(): void
  /** Work that is waited for begins. */
  begin(): void
  /** It has ended. */
  end(): void
  /** Must be called when nothing will be waited for any more. */
  close(): void
}

/** One for many waits: a timer for each would cost more than most of them take. */
export function createWaiting(time: Time = REAL_TIME, say: () => void): Waiting {
  let isWaiting = false
  let sayAt = time.now() + MINUTE_MS
  const close = time.every(TICK_MS, () => {
    if (time.now() < sayAt) return
    sayAt += MINUTE_MS
    if (isWaiting) say()
  })
  return {
    close,
    restart() {
      sayAt = time.now() + MINUTE_MS
    },
    begin() {
      isWaiting = true
    },
    end() {
      isWaiting = false
    },
  }
}

/** Told what a stream waits for. */
export interface WaitListener {
  /** The service asks to wait. */
  rateLimited(until: Date): void
  /** Each minute; why, if that is known. */
  waiting(trouble: Trouble | undefined): void
}

/** Tells the platform and the operator that a stream waits, and why. */
export function createWaitReport(stream: string, output: StreamOutput, log: Log): WaitListener {
  return {
    rateLimited: (until) => output.rateLimited(until),
    waiting(trouble) {
      if (trouble?.until === undefined) output.waiting()
      else output.rateLimited(trouble.until)
      log.warn(stillWaiting(stream, trouble))
    },
  }
}

/** Who waits, and in a second sentence why if that is known. */
export function stillWaiting(who: string, trouble: Trouble | undefined): string {
  return trouble === undefined
    ? `${who}: still waiting for an answer of the service.`
    : `${who}: still waiting for the service. ${trouble.reason}`
}
