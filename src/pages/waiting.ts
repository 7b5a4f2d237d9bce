import { warningOf } from '../ground/message-ids.ts'
import { REAL_TIME, type Time } from '../http/clock.ts'
import type { RetryCause } from '../http/exchange.ts'
import type { Log, StreamOutput } from '../protocol/connector.ts'

const MINUTE_MS = 60_000
/** How exact the minutes are. */
const TICK_MS = 10_000

/** Logs a message each minute while something is waiting. */
export type Waiting = ReturnType<typeof createWaiting>

/** Creates one timer for many waits, because a timer for each would cost more than most waits take. */
export function createWaiting(time: Time = REAL_TIME, say: () => void) {
  let isWaiting = false
  let sayAt = time.now() + MINUTE_MS
  const close = time.every(TICK_MS, () => {
    if (time.now() < sayAt) return
    sayAt += MINUTE_MS
    if (isWaiting) say()
  })
  return {
    /** Must be called when nothing can wait any more. */
    close,
    /** Restarts the minute: the next wait is a new one. */
    restart() {
      sayAt = time.now() + MINUTE_MS
    },
    /** A wait begins. */
    begin() {
      isWaiting = true
    },
    /** The wait has ended. */
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

/** Informs the platform and the operator that a stream is waiting, and why. */
export function createWaitReport(stream: string, output: StreamOutput, log: Log): WaitListener {
  const rateLimited = (until: Date) => output.note({ type: 'rate limited', until })
  return {
    rateLimited,
    waiting(retryCause) {
      if (retryCause?.until === undefined) output.note({ type: 'waiting' })
      else rateLimited(retryCause.until)
      log.warn(stillWaiting(stream, retryCause))
    },
  }
}

/** A message that names the waiting stream and, if it is known, the reason. */
export function stillWaiting(who: string, retryCause: RetryCause | undefined): string {
  return retryCause === undefined
    ? warningOf('still-waiting', `${who}: still waiting for an answer of the service.`)
    : warningOf('still-waiting', `${who}: still waiting for the service. ${retryCause.reason}`)
}
