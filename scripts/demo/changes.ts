import type { ServiceRecord } from './references.ts'
import type { Service } from './service.ts'

/** Collections without a delta whose records nothing refers to. */
const HISTORIES = [
  'department-histories',
  'employer-histories',
  'job-histories',
  'job-category-histories',
  'sector-histories',
  'work-location-histories',
]
/** Collections without a delta that others refer to: what is deleted of them must be new. */
const ENTITIES = ['job-categories', 'sectors', 'work-locations']

const REFERENCE = { collection: 'people', name: 'payroll' }

/** Spread over all collections. */
const CHANGES = { inserts: 96, updates: 144, deletes: 200, softDeletes: 60 }

/**
 * A day at the tenant until its evening: everybody clocks in and out; records of all collections are
 * added, corrected and deleted; some clockings are deleted softly; a reference is new.
 */
export async function workOneDay(service: Service): Promise<void> {
  await service.tell('/advance', { hours: 18 })
  await clockInAndOut(service)
  await service.tell('/changes', { ...CHANGES, seed: 2 })
  for (const collection of ENTITIES) await service.tell('/insert', { collection })
  const references = await service.references()
  await references.put({ ...REFERENCE, value: 'late riser' }, 2)
}

/**
 * A long weekend without a sync, 73 hours, so that every delta link is dead: another day of work,
 * deletes of collections without a delta and of references.
 */
export async function workAndWait(service: Service): Promise<void> {
  for (const collection of HISTORIES) await undoLastMove(collection, service)
  // The last record is one that the second sync has loaded and that nothing refers to yet.
  for (const collection of ENTITIES) {
    const last = (await service.all(collection)).at(-1)
    await service.tell('/remove', { collection, id: last?.['id'] })
  }
  const payroll = (await service.all('external-references')).filter(
    ({ collection, name }) => collection === REFERENCE.collection && name === REFERENCE.name,
  )
  const references = await service.references()
  for (const { value } of payroll.slice(0, 5)) {
    await references.remove({ ...REFERENCE, value: String(value) })
  }
  await service.tell('/advance', { hours: 73 })
  await clockInAndOut(service)
  await service.tell('/changes', { ...CHANGES, seed: 3 })
}

/** Somebody stays where they were: the latest change of a history goes, what it ended is open again. */
async function undoLastMove(collection: string, service: Service): Promise<void> {
  const periods = await service.all(collection)
  const last = periods.findLast((period) => period['until'] === null && before(period, periods))
  if (!last) throw new Error(`Nobody in ${collection} was ever anything else`)
  const id = before(last, periods)?.['id']
  await service.tell('/remove', { collection, id: last['id'] })
  await service.tell('/update', { collection, id, patch: { until: null } })
}

function before(
  { person, from }: ServiceRecord,
  periods: readonly ServiceRecord[],
): ServiceRecord | undefined {
  const dayBefore = new Date(Date.parse(String(from)) - 24 * 3600 * 1000).toISOString().slice(0, 10)
  return periods.find((one) => idOf(one) === idOf({ person }) && one['until'] === dayBefore)
}

function idOf({ person }: ServiceRecord): unknown {
  return (person as ServiceRecord)['id']
}

/** Everybody who has begun works from 8:00 to 16:30, give or take some minutes. */
async function clockInAndOut(service: Service): Promise<void> {
  const date = (await service.now()).slice(0, 10)
  for (const { id, inServiceDate } of await service.all('people')) {
    if (String(inServiceDate) > date) continue
    const person = { id }
    for (const time of [480 + (Number(id) % 17), 990 + (Number(id) % 13)]) {
      const times = { timeOfDayInMinutes: time, calculatedTimeOfDayInMinutes: time - (time % 5) }
      const record = { person, date, ...times }
      await service.tell('/insert', { collection: 'clockings', record })
    }
    await service.tell('/insert', { collection: 'calculated-totals', record: { person, date } })
  }
}
