import { warningOf } from '../ground/message-ids.ts'
import type { Log } from '../protocol/connector.ts'

const RULE =
  'The service keeps one delta per collection and client, and each start ends the one before it.'
const ONE_PIPELINE =
  'Make sure that one tenant has one pipeline, or give each pipeline a client of its own.'

/** Collects the deltas of a sync that ended before the service's 72 hours were over. */
export type ExpiredDeltas = ReturnType<typeof createExpiredDeltas>

/** Creates the collection. `continued` is the number of streams whose delta began in an earlier sync. */
export function createExpiredDeltas(continued: number) {
  const streams = new Set<string>()
  let isLive = false
  return {
    /** `wasLive`: the delta had answered in this sync. */
    add(stream: string, wasLive: boolean) {
      streams.add(stream)
      isLive ||= wasLive
    },
    /** The advice for the operator, in one message for all streams; undefined if there are none. */
    advice(): string | undefined {
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

export type StreamLog = Pick<Log, 'debug' | 'warn'>

/**
 * The warnings of the streams of a sync. A warning often applies to many streams: it is logged immediately for the
 * first one, and for all others in one line at the end.
 */
export type StreamWarnings = ReturnType<typeof createStreamWarnings>

export function createStreamWarnings(log: Log) {
  const others = new Map<string, string[]>()
  return {
    /** A log that puts the name of the stream before each message. */
    of: (stream: string): StreamLog => ({
      debug: (text) => log.debug(`${stream}: ${text}`),
      warn(text) {
        const streams = others.get(text)
        if (streams === undefined) others.set(text, [])
        else streams.push(stream)
        const say = streams === undefined ? log.warn : log.debug
        say(`${stream}: ${text}`)
      },
    }),
    /** Logs the collected warnings. Must be called once, after all streams have been read. */
    logRest() {
      for (const [text, streams] of others)
        if (streams.length > 0) log.warn(`${streams.sort().join(', ')}: ${text}`)
    },
  }
}
