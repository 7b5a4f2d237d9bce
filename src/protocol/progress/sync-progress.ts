import type { ConnectorError } from '../../ground/errors.ts'
import type { Failure, RowCounts, StreamStart, SyncFacts, SyncTraffic } from '../connector.ts'

/** A monotonic clock in milliseconds, and its timers. */
export interface ProgressClock {
  now(): number
  /** Calls `tick` every `ms` milliseconds until the returned function is called. */
  every(ms: number, tick: () => void): () => void
}

export const PROGRESS_CLOCK: ProgressClock = {
  now: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref()
    return () => clearInterval(timer)
  },
}

/**
 * Gets the progress of a sync. There is no call per row: rows are counted where they are written, and the counts are
 * read when they are needed.
 */
export interface SyncObserver {
  /** The sync begins; the counts of the streams change while it runs. */
  begun(facts: SyncFacts, streams: readonly CountedStream[]): void
  /** It is decided where each stream starts; the keys are names of streams. */
  planned(starts: ReadonlyMap<string, StreamStart>): void
  /** A stream is being read. Called again if the read starts over. */
  started(stream: string, start: StreamStart): void
  /** A stream has been read completely, or has failed. */
  ended(stream: string, error?: ConnectorError): void
}

/** A stream with the rows that were written of it so far. */
export interface CountedStream {
  readonly name: string
  readonly counts: RowCounts
}

/** The progress of a stream. */
export interface StreamProgress {
  readonly name: string
  readonly status: 'queued' | 'working' | 'complete' | 'failed'
  /** Where the reading starts; undefined until that is decided. */
  readonly start: StreamStart | undefined
  /** Whether anything was requested; false for a stream that failed before that. */
  readonly isBegun: boolean
  readonly counts: RowCounts
  /** The number of requests so far, including repeated ones; undefined if the source does not count them. */
  readonly requests: number | undefined
  /** How long the stream has been read, or was read. */
  readonly seconds: number
}

/** The progress of a sync. */
export interface SyncProgress extends Omit<SyncFacts, 'requestsOf'> {
  readonly streams: readonly StreamProgress[]
  readonly seconds: number
}

/** How a sync ended. */
export interface SyncOutcome {
  readonly failures: readonly Failure[]
  /** The signal that stopped the sync; empty if the reader of its output is gone. */
  readonly stoppedBy?: string
}

/** Gets the progress of a sync. `finished` is called last, even if the sync never began. */
export interface ProgressListener {
  begun?(sync: SyncProgress): void
  planned?(sync: SyncProgress): void
  started?(stream: StreamProgress): void
  ended?(stream: StreamProgress, error: ConnectorError | undefined): void
  finished?(sync: SyncProgress | undefined, outcome: SyncOutcome): void
}

/** Keeps the progress of a sync and notifies its listeners. */
export function createSyncProgress(
  listeners: readonly ProgressListener[],
  { now }: Pick<ProgressClock, 'now'>,
): { readonly observer: SyncObserver; finish(outcome: SyncOutcome): void } {
  const streams = new Map<string, Entry>()
  let sync: SyncProgress | undefined
  return {
    observer: {
      begun({ requestsOf, ...facts }, counted) {
        const begunAt = now()
        for (const { name, counts } of counted)
          streams.set(
            name,
            createEntry(name, counts, () => requestsOf?.(name), now),
          )
        const told: SyncProgress = {
          ...facts,
          streams: [...streams.values()],
          get seconds() {
            return (now() - begunAt) / 1000
          },
        }
        sync = told
        for (const listener of listeners) listener.begun?.(told)
      },
      planned(starts) {
        for (const [name, start] of starts) streams.get(name)?.plan(start)
        if (sync !== undefined) for (const listener of listeners) listener.planned?.(sync)
      },
      started(name, start) {
        const stream = streams.get(name)
        if (stream === undefined) return
        stream.begin(start)
        for (const listener of listeners) listener.started?.(stream)
      },
      ended(name, error) {
        const stream = streams.get(name)
        if (stream === undefined) return
        stream.end(error === undefined ? 'complete' : 'failed')
        for (const listener of listeners) listener.ended?.(stream, error)
      },
    },
    finish(outcome) {
      for (const listener of listeners) listener.finished?.(sync, outcome)
    },
  }
}

type Entry = StreamProgress & {
  plan(start: StreamStart): void
  begin(start: StreamStart): void
  end(status: 'complete' | 'failed'): void
}

function createEntry(
  name: string,
  counts: RowCounts,
  requests: () => number | undefined,
  now: () => number,
): Entry {
  let status: StreamProgress['status'] = 'queued'
  let start: StreamStart | undefined
  let startedAt: number | undefined
  let endedAt: number | undefined
  return {
    name,
    counts,
    get status() {
      return status
    },
    get start() {
      return start
    },
    get requests() {
      return requests()
    },
    get isBegun() {
      return startedAt !== undefined
    },
    get seconds() {
      return startedAt === undefined ? 0 : ((endedAt ?? now()) - startedAt) / 1000
    },
    plan(at) {
      start = at
    },
    begin(at) {
      start = at
      startedAt ??= now()
      status = 'working'
    },
    end(as) {
      endedAt = now()
      status = as
    },
  }
}

/** The number of records and deletes. */
export function rowsOf({ records, deletes }: RowCounts): number {
  return records + deletes
}

/** The records and deletes of all streams. */
export function totalOf(streams: readonly Pick<CountedStream, 'counts'>[]): RowCounts {
  return streams.reduce(
    (sum, { counts }) => ({
      records: sum.records + counts.records,
      deletes: sum.deletes + counts.deletes,
    }),
    { records: 0, deletes: 0 },
  )
}

/** The number of streams that have ended, complete or failed. */
export function endedOf(streams: readonly StreamProgress[]): number {
  return streams.filter(({ status }) => status === 'complete' || status === 'failed').length
}

/** The period over which a rate is measured. */
const WINDOW_MS = 10_000

/** Measures how fast named counts grow. */
export interface Rates {
  /** Records a count, and returns its growth per second in the last ten seconds. */
  perSecond(name: string, count: number): number
}

export function createRates(now: () => number): Rates {
  const samples = new Map<string, { readonly at: number; readonly count: number }[]>()
  return {
    perSecond(name, count) {
      const at = now()
      const known = samples.get(name) ?? []
      samples.set(name, known)
      known.push({ at, count })
      // Keeps one sample from before the window, so that the rate covers the whole window.
      while ((known[1]?.at ?? at) < at - WINDOW_MS) known.shift()
      const [first] = known
      if (first === undefined || first.at === at) return 0
      return ((count - first.count) / (at - first.at)) * 1000
    },
  }
}

/** A number with thousands separators: 1,234,567. */
export function grouped(count: number): string {
  return String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** A duration as on a clock: 0:07, 12:30, 1:00:05. */
export function clockTime(seconds: number): string {
  const whole = Math.floor(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const end = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${end}` : `${hours}:${String(minutes).padStart(2, '0')}:${end}`
}

/** For example "3 records and 1 delete", or "no records". */
export function rowsInWords({ records, deletes }: RowCounts): string {
  const parts = [many(records, 'record'), many(deletes, 'delete')].filter(Boolean)
  return parts.length === 0 ? 'no records' : parts.join(' and ')
}

/** The requests of a sync in words: "34 requests", "1 retry", "2 throttled", "12.4 MB". Zeros are left out. */
export function effortOf({ requests, retries, throttled, bytes }: SyncTraffic): string[] {
  return [
    many(requests, 'request'),
    many(retries, 'retry', 'retries'),
    throttled === 0 ? '' : `${throttled} throttled`,
    bytes < 50_000 ? '' : `${(bytes / 1e6).toFixed(1)} MB`,
  ].filter(Boolean)
}

/** For example "1 retry" or "2 retries"; an empty string for 0. */
export function many(count: number, one: string, several = `${one}s`): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : several}`
}

/** Joins as many parts as fit into one line; the first one is cut if necessary. */
export function fitted(parts: readonly string[], width: number): string {
  let [line = ''] = parts
  for (const part of parts.slice(1)) {
    if (line.length + part.length + 2 > width) break
    line += `, ${part}`
  }
  return cut(line, width)
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
}
