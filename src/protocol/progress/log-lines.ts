import { about, withId } from '../../ground/message-ids.ts'
import type { Failure, Log, StreamStart } from '../connector.ts'
import {
  createRates,
  endedOf,
  type ProgressClock,
  type ProgressListener,
  rowsInWords,
  rowsOf,
  type StreamProgress,
  type SyncProgress,
  totalOf,
} from './sync-progress.ts'

const MINUTE_MS = 60_000

export interface LogLinesSettings {
  readonly log: Pick<Log, 'info'>
  readonly clock: ProgressClock
  /** Name and version: "tap-x 1.2.3". */
  readonly program: string
  /** What to say if the sync is stopped: where a later one continues. */
  readonly kept: string
}

/** Logs the progress of a sync: at its start, each minute, and when a stream ends. */
export function createLogLines(settings: LogLinesSettings): ProgressListener {
  const { log, clock, program, kept } = settings
  const rates = createRates(clock.now)
  let stop = () => {}
  return {
    begun(sync) {
      const rate = () => rates.perSecond('', rowsOf(totalOf(sync.streams)))
      rate()
      stop = clock.every(MINUTE_MS, () => log.info(progressInWords(sync, rate())))
    },
    planned(sync) {
      log.info(`${program}, ${sync.subject}, ${startsInWords(sync.streams)}.`)
    },
    ended({ name, status, isBegun, counts, seconds, start }) {
      // A stream that was never requested is reported by its error.
      if (!isBegun || start === undefined) return
      const what = `${rowsInWords(counts)} in ${seconds.toFixed(1)} s`
      log.info(
        status === 'failed' ? `${name}: failed after ${what}.` : `${name}: ${what}, ${start.how}.`,
      )
    },
    finished(sync, { stoppedBy }) {
      stop()
      if (stoppedBy) log.info(stopInWords(sync, stoppedBy, kept))
    },
  }
}

/** A failure as one line: the stream, the message, its type, and its id. */
export function inWords({ stream, error }: Failure): string {
  const { id, message } = about(stream, error)
  return withId({ id, message: `${message} (${error.failure})` })
}

/** Describes what a stopped sync has done. */
export function stopInWords(
  sync: SyncProgress | undefined,
  stoppedBy: string,
  kept: string,
): string {
  if (sync === undefined) return `Stopped by ${stoppedBy} before anything was read.`
  const { streams } = sync
  const complete = streams.filter(({ status }) => status === 'complete').length
  const done = `${complete} of ${streams.length} streams complete`
  return `Stopped by ${stoppedBy}. Written: ${rowsInWords(totalOf(streams))}, ${done}. ${kept}`
}

const STARTS: readonly (readonly [kinds: readonly StreamStart['kind'][], words: string])[] = [
  [['changes', 'continues'], 'to continue'],
  [['begins'], 'from the beginning'],
  [['whole'], 'as whole lists'],
]

/** For example "3 streams: 1 to continue, 2 from the beginning". */
function startsInWords(streams: readonly StreamProgress[]): string {
  const parts = STARTS.map(([kinds, words]) => {
    const count = streams.filter(({ start }) => start && kinds.includes(start.kind)).length
    return count === 0 ? '' : `${count} ${words}`
  })
  const all = `${streams.length} ${streams.length === 1 ? 'stream' : 'streams'}`
  return `${all}: ${parts.filter(Boolean).join(', ')}`
}

function progressInWords({ streams, retryCause }: SyncProgress, rate: number): string {
  const working = streams
    .filter(({ status }) => status === 'working')
    .map(({ name, counts, start }) => {
      const expected = start?.expected === undefined ? '' : ` of about ${start.expected}`
      return `${name} ${rowsOf(counts)}${expected}`
    })
  const at = working.length === 0 ? '' : `; in progress: ${working.join(', ')}`
  const why = retryCause()
  return `${endedOf(streams)} of ${streams.length} streams done, ${rowsOf(totalOf(streams))} rows, ${Math.round(rate)} rows/s${at}.${why === undefined ? '' : ` Waiting: ${why}`}`
}
