import { ConnectorError } from '../protocol/errors.ts'
import { addDays, type Day, dayOf } from './days.ts'

/**
 * Throws a config error for a start date after the day before yesterday: a delta has to begin on a day
 * that is past in the service's time zone, which may be half a day away. `now` is the service's time.
 */
export function refuseLateStart(start: Day | undefined, now: Date): void {
  const latest = addDays(dayOf(now), -2)
  if (start === undefined || start <= latest) return
  throw new ConnectorError(
    'config',
    `The configuration is not valid. start_date must be the day before yesterday, ${latest}, or earlier; it is ${start}.`,
  )
}
