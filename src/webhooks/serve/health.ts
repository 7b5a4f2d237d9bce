import type { Page } from '../receiver.ts'
import type { Activity } from './activity.ts'
import type { Keeping } from './keeping.ts'
import type { Schedule } from './schedule.ts'

/** What the pages tell of. */
export interface Facts {
  readonly keeping: Pick<Keeping, 'subscriptions' | 'now' | 'failures'>
  readonly schedule: Schedule
  readonly activity: Activity
  /** Answers of the receiver by status code. */
  readonly deliveries: ReadonlyMap<number, number>
}

const HOUR = 3_600_000

/** `/healthz`: 503 once some collection has had no usable webhook for an hour. */
export function healthPage({ keeping, schedule, activity }: Facts): ReturnType<Page> {
  const { subscriptions, failures: keeperFailures } = keeping
  const anHourAgo = keeping.now().getTime() - HOUR
  const isLacking = [...subscriptions.values()].some(({ lackingSince, validUntil }) => {
    const since = lackingSince ?? validUntil
    return since !== undefined && since.getTime() <= anHourAgo
  })
  const collections = Object.fromEntries(
    [...subscriptions].map(([name, { status, validUntil, reason }]) => [
      name,
      {
        status,
        validUntil: validUntil?.toISOString() ?? null,
        lastDelivery: activity.lastDelivery.get(name)?.toISOString() ?? null,
        ...(reason === undefined ? {} : { reason }),
      },
    ]),
  )
  return {
    status: isLacking ? 503 : 200,
    contentType: 'application/json',
    body: `${JSON.stringify({
      collections,
      lastSync: activity.lastSync?.toISOString() ?? null,
      failures: schedule.failures,
      keeperFailures,
      running: schedule.running?.collections ?? [],
      waiting: schedule.waiting?.collections ?? [],
    })}\n`,
  }
}
