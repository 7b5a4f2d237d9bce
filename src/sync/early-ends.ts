/** The deltas that ended before the service's 72 hours were over, of all streams of a sync. */
export interface EarlyEnds {
  /** `isLive` when the delta had answered in this very sync. */
  add(stream: string, isLive: boolean): void
  /** What the operator is to do about them, in one message for all; undefined when there are none. */
  advice(): string | undefined
}

const RULE =
  'The service keeps one delta per collection and client, and each start ends the one before it.'
const ONE_PIPELINE =
  'Make sure that one tenant has one pipeline, or give each pipeline a client of its own.'

/** `continued` is the number of streams whose delta began in an earlier sync. */
export function createEarlyEnds(continued: number): EarlyEnds {
  const streams = new Set<string>()
  let isLive = false
  return {
    add(stream, wasLive) {
      streams.add(stream)
      isLive ||= wasLive
    },
    advice() {
      if (streams.size === 0) return undefined
      const what = `The deltas of these streams ended early, so they are read from the beginning: ${[...streams].sort().join(', ')}.`
      if (isLive) {
        return `${what} Probably another program reads this tenant with the same client at this moment. ${RULE} ${ONE_PIPELINE}`
      }
      if (streams.size > 1 && streams.size >= continued) {
        return `${what} These are all deltas that there were: the service may have been restarted, which this sync makes up for. If it happens again, another program reads this tenant with the same client. ${RULE} ${ONE_PIPELINE}`
      }
      return `${what} Probably another program reads them with the same client. ${RULE} ${ONE_PIPELINE}`
    },
  }
}
