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
 * A day at the tenant: everybody clocks in and out; records of all collections are added, corrected
 * and deleted; some clockings are deleted softly; a reference is new.
 */
export async function workOneDay(service: Service): Promise<void> {
  await clockInAndOut(service)
  await service.tell('/changes', { ...CHANGES, seed: 2 })
  for (const collection of ENTITIES) await service.tell('/insert', { collection })
  await service.tell('/set-reference', { ...REFERENCE, value: 'late riser', id: 2 })
}

/**
 * A long weekend without a sync: another day, deletes of collections without a delta and of
 * references, and 73 hours, so that every delta link is dead.
 */
export async function workAndWait(service: Service): Promise<void> {
  // The last record is one that the second sync has loaded and that nothing refers to yet.
  for (const collection of [...HISTORIES, ...ENTITIES]) {
    const last = (await service.all(collection)).at(-1)
    await service.tell('/remove', { collection, id: last?.['id'] })
  }
  const payroll = (await service.all('external-references')).filter(
    ({ collection, name }) => collection === REFERENCE.collection && name === REFERENCE.name,
  )
  for (const { value } of payroll.slice(0, 5)) {
    await service.tell('/remove-reference', { ...REFERENCE, value })
  }
  await clockInAndOut(service)
  await service.tell('/changes', { ...CHANGES, seed: 3 })
  await service.tell('/advance', { hours: 73 })
}

async function clockInAndOut(service: Service): Promise<void> {
  const date = (await service.now()).slice(0, 10)
  for (const { id } of await service.all('people')) {
    for (const collection of ['clockings', 'clockings', 'calculated-totals']) {
      await service.tell('/insert', { collection, record: { person: { id }, date } })
    }
  }
}
