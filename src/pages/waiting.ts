import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { REAL_TIME, type Time } from '../http/clock.ts'
import type { RetryCause } from '../http/exchange.ts'
import type { Log, StreamOutput } from '../protocol/connector.ts'

const MINUTE_MS = 60_000
/** How exact the minutes are. */
const TICK_MS = 10_000

/** Logs a message each minute while something is waiting. */
export interface Waiting {
  /** Restarts the minute: the next wait is a new one. */
  restart(): void
  /** A wait begins. */
  begin(): void
  /** The wait has ended. */
  end(): void
  /** Must be called when nothing can wait any more. */
  close(): void
}

/** Creates one timer for many waits, because a timer for each would cost more than most waits take. */
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

/** Called when a stream waits. */
export interface WaitListener {
  /** The service asked to wait until this time. */
  rateLimited(until: Date): void
  /** Called each minute, with the reason if it is known. */
  waiting(retryCause: RetryCause | undefined): void
}

/** Informs the platform and the user that a stream is waiting, and why. */
export function createWaitReport(stream: string, output: StreamOutput, log: Log): WaitListener {
  return {
    rateLimited: (until) => output.rateLimited(until),
    waiting(retryCause) {
      if (retryCause?.until === undefined) output.waiting()
      else output.rateLimited(retryCause.until)
      log.warn(stillWaiting(stream, retryCause))
    },
  }
}

/** A message that names the waiting stream and, if it is known, the reason. */
export function stillWaiting(who: string, retryCause: RetryCause | undefined): IdentifiedMessage {
  return retryCause === undefined
    ? warningOf('still-waiting', `${who}: still waiting for a response of the service.`)
    : warningOf('still-waiting', `${who}: still waiting for the service. ${retryCause.reason}`)
}
