import type { Config } from '../config/config.ts'
import { addDays, type Day, dayOf, later } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import type { StreamRequest } from '../protocol/connector.ts'

/**
 * The earliest date on which a delta may start now: 1 January of the previous year. It is the date in the easternmost
 * time zone, where it is latest, because the documentation does not say which zone the service uses.
 */
export function earliestDeltaStart(now: Date): Day {
  const furthestEast = new Date(now.getTime() + 14 * 3_600_000)
  return `${furthestEast.getUTCFullYear() - 1}-01-01`
}

/** The settings that a first day depends on. */
export type DaySettings = Pick<Config, 'startDate' | 'retention'>

/**
 * The first day that is kept: the start date, or the first day of the oldest month that is kept, if that is later. Null
 * if neither is configured, so that nothing is deleted because of its age.
 */
export function firstKept(
  stream: string,
  { startDate, retention }: DaySettings,
  now: Date,
): Day | null {
  const ofOthers = retention.find((one) => one.stream === undefined)
  const { months } = retention.find((one) => one.stream === stream) ?? ofOthers ?? {}
  if (months === undefined) return startDate ?? null
  return later(
    startDate ?? null,
    dayOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months))),
  )
}

/** The day from which a stream is read: the first one that is kept, or without a start date the service's own limit. */
export function firstRead(stream: string, settings: DaySettings, now: Date): Day {
  return later(firstKept(stream, settings, now), settings.startDate ?? earliestDeltaStart(now))
}

/** The first day of a delta that starts now and covers everything from `start` on, as far as the service allows. */
export function deltaWindow(start: Day | null, now: Date): Day | null {
  const earliest = earliestDeltaStart(now)
  return start !== null && start < earliest ? earliest : start
}

/** What the last day of lists depends on; see `StreamState`. */
interface ListedDays {
  readonly listedUntil: Day | null
  readonly mode: StreamRequest['mode']
  readonly startsNoDelta: boolean
}

/**
 * The last day of lists. It is not before the last day of an earlier list: the warehouse has these rows, and they
 * must not count as deleted if `future_days` is smaller now.
 */
export function lastDayOf(
  { listedUntil, mode, startsNoDelta }: ListedDays,
  futureDays: number,
  now: Date,
): Day {
  const day = addDays(dayOf(now), futureDays)
  const isBound = mode === 'incremental' || startsNoDelta
  return isBound && listedUntil !== null && listedUntil > day ? listedUntil : day
}

/**
 * Throws a config error for a start date after the day before yesterday. A delta has to start on a date that is in
 * the past in the service's time zone, which may be half a day away. `now` is the service's time.
 */
export function refuseLateStart(start: Day | undefined, now: Date): void {
  const latest = addDays(dayOf(now), -2)
  if (start === undefined || start <= latest) return
  throw new ConnectorError(
    'config',
    'start-date-too-late',
    `The configuration is not valid. start_date must be the day before yesterday, ${latest}, or earlier; it is ${start}.`,
  )
}
