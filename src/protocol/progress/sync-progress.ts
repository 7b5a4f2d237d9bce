import type { Failure } from '../connector.ts'
import type { ConnectorError } from '../errors.ts'
import type { RowCounts, StreamStart, SyncFacts, SyncObserver } from './sync-observer.ts'

/** Milliseconds of a monotonic clock, and its ticks. */
export interface ProgressClock {
  now(): number
  /** Calls `tick` whenever so much time has passed, until the returned function is called. */
  every(ms: number, tick: () => void): () => void
}

export const PROGRESS_CLOCK: ProgressClock = {
  now: () => performance.now(),
  every(ms, tick) {
    const timer = setInterval(tick, ms).unref()
    return () => clearInterval(timer)
  },
}

/** How far a stream is. */
export interface StreamProgress {
  readonly name: string
  readonly status: 'queued' | 'working' | 'complete' | 'failed'
  readonly start: StreamStart
  /** False as long as nothing was asked for, also of a stream that failed before that. */
  readonly isBegun: boolean
  readonly counts: RowCounts
  /** How long it has been read, or was. */
  readonly seconds: number
}

/** How far a sync is. */
export interface SyncProgress extends Omit<SyncFacts, 'streams'> {
  readonly streams: readonly StreamProgress[]
  readonly seconds: number
}

/** How a sync ended. */
export interface SyncOutcome {
  readonly failures: readonly Failure[]
  /** The signal that stopped it; empty when its reader has left. */
  readonly stoppedBy?: string
}

/** Makes something of how far a sync is. `finished` comes last, also for a sync that never began. */
export interface ProgressListener {
  begun?(sync: SyncProgress): void
  started?(stream: StreamProgress): void
  ended?(stream: StreamProgress, error: ConnectorError | undefined): void
  finished?(sync: SyncProgress | undefined, outcome: SyncOutcome): void
}

/** Keeps account of a sync for its listeners. */
export function createSyncProgress(
  listeners: readonly ProgressListener[],
  { now }: Pick<ProgressClock, 'now'>,
): { readonly observer: SyncObserver; finish(outcome: SyncOutcome): void } {
  const streams = new Map<string, Entry>()
  let sync: SyncProgress | undefined
  return {
    observer: {
      begun(facts) {
        const begunAt = now()
        for (const { name, start, counts } of facts.streams)
          streams.set(name, createEntry(name, start, counts, now))
        const told: SyncProgress = {
          subject: facts.subject,
          labels: facts.labels,
          traffic: facts.traffic,
          trouble: facts.trouble,
          streams: [...streams.values()],
          get seconds() {
            return (now() - begunAt) / 1000
          },
        }
        sync = told
        for (const listener of listeners) listener.begun?.(told)
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
  begin(start: StreamStart): void
  end(status: 'complete' | 'failed'): void
}

function createEntry(
  name: string,
  given: StreamStart,
  counts: RowCounts,
  now: () => number,
): Entry {
  let status: StreamProgress['status'] = 'queued'
  let start = given
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
    get isBegun() {
      return startedAt !== undefined
    },
    get seconds() {
      return startedAt === undefined ? 0 : ((endedAt ?? now()) - startedAt) / 1000
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

/** Records and deletes. */
export function rowsOf({ records, deletes }: RowCounts): number {
  return records + deletes
}

/** Records and deletes of all streams. */
export function totalOf(streams: readonly StreamProgress[]): RowCounts {
  return streams.reduce(
    (sum, { counts }) => ({
      records: sum.records + counts.records,
      deletes: sum.deletes + counts.deletes,
    }),
    { records: 0, deletes: 0 },
  )
}

/** The streams that are at an end, complete or failed. */
export function endedOf(streams: readonly StreamProgress[]): number {
  return streams.filter(({ status }) => status === 'complete' || status === 'failed').length
}
