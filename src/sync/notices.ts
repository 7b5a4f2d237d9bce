import { warningOf } from '../ground/message-ids.ts'
import { REAL_TIME, type Time } from '../http/clock.ts'
import type { RetryCause } from '../http/exchange.ts'
import type { Log, StreamOutput } from '../protocol/connector.ts'

/** Collects the deltas of a sync that ended before the service's 72 hours were over. */
export interface ExpiredDeltas {
  /** `isLive` if the delta had answered in this sync. */
  add(stream: string, isLive: boolean): void
  /** The advice for the operator, in one message for all streams; undefined if there are none. */
  advice(): string | undefined
}

const RULE =
  'The service keeps one delta per collection and client, and each start ends the one before it.'
const ONE_PIPELINE =
  'Make sure that one tenant has one pipeline, or give each pipeline a client of its own.'

/** Creates the collection. `continued` is the number of streams whose delta began in an earlier sync. */
export function createExpiredDeltas(continued: number): ExpiredDeltas {
  const streams = new Set<string>()
  let isLive = false
  return {
    add(stream, wasLive) {
      streams.add(stream)
      isLive ||= wasLive
    },
    advice() {
      if (streams.size === 0) return undefined
      const what = warningOf(
        'deltas-ended-early',
        `The deltas of these streams ended early, so they are read from the beginning: ${[...streams].sort().join(', ')}.`,
      )
      if (isLive) {
        return `${what} Probably another program reads this tenant with the same client at this moment. ${RULE} ${ONE_PIPELINE}`
      }
      if (streams.size > 1 && streams.size >= continued) {
        return `${what} These were all of the deltas, so the service may have been restarted. In that case you need not do anything. If it happens again, another program reads this tenant with the same client. ${RULE} ${ONE_PIPELINE}`
      }
      return `${what} Probably another program reads them with the same client. ${RULE} ${ONE_PIPELINE}`
    },
  }
}

/**
 * The warnings of the streams of a sync. A warning often applies to many streams: it is logged immediately for the
 * first one, and for all others in one line at the end.
 */
export interface StreamWarnings {
  /** A log that puts the name of the stream before each message. */
  of(stream: string): StreamLog
  /** Logs the collected warnings. Must be called once, after all streams have been read. */
  logRest(): void
}

export type StreamLog = Pick<Log, 'debug' | 'warn'>

export function createStreamWarnings(log: Log): StreamWarnings {
  const others = new Map<string, string[]>()
  return {
    of: (stream) => ({
      debug: (text) => log.debug(`${stream}: ${text}`),
      warn(text) {
        const streams = others.get(text)
        if (streams === undefined) others.set(text, [])
        else streams.push(stream)
        const say = streams === undefined ? log.warn : log.debug
        say(`${stream}: ${text}`)
      },
    }),
    logRest() {
      for (const [text, streams] of others)
        if (streams.length > 0) log.warn(`${streams.sort().join(', ')}: ${text}`)
    },
  }
}

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

/** Informs the platform and the operator that a stream is waiting, and why. */
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
export function stillWaiting(who: string, retryCause: RetryCause | undefined): string {
  return retryCause === undefined
    ? warningOf('still-waiting', `${who}: still waiting for an answer of the service.`)
    : warningOf('still-waiting', `${who}: still waiting for the service. ${retryCause.reason}`)
}
