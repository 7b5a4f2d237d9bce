import type { Log } from '../protocol/connector.ts'

/**
 * The warnings of the streams of a sync. What happens to one stream often happens to all: the first
 * one's warning is told at once, and the same warning of others in one line at the end.
 */
export interface StreamWarnings {
  /** A log that puts the name of the stream before each message. */
  of(stream: string): StreamLog
  /** To be called once, when no stream is read any more. */
  tellRest(): void
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
    tellRest() {
      for (const [text, streams] of others)
        if (streams.length > 0) log.warn(`${streams.sort().join(', ')}: ${text}`)
    },
  }
}
