import type { Trouble } from '../http/exchange.ts'
import { REAL_TIME, type Time } from '../http/time.ts'
import type { Log } from '../protocol/connector.ts'
import type { StreamOutput } from '../protocol/stream-output.ts'

const MINUTE_MS = 60_000

/** Says so each minute as long as something is waited for. */
export interface Waiting {
  during<T>(work: Promise<T>): Promise<T>
  /** Must be called when nothing will be waited for any more. */
  end(): void
}

export function createWaiting(time: Time = REAL_TIME, say: () => void): Waiting {
  let isWaiting = false
  const end = time.every(MINUTE_MS, () => {
    if (isWaiting) say()
  })
  return {
    end,
    async during(work) {
      isWaiting = true
      try {
        return await work
      } finally {
        isWaiting = false
      }
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
