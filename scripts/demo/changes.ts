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

/** A day of work at the tenant: inserts, updates, hard deletes, soft deletes, a new reference. */
export async function workOneDay(service: Service): Promise<void> {
  await service.tell('/changes', {
    inserts: 400,
    updates: 1500,
    deletes: 300,
    softDeletes: 100,
    seed: 2,
  })
  for (const collection of ENTITIES) await service.tell('/insert', { collection })
  await service.tell('/set-reference', { ...REFERENCE, value: 'late riser', id: 2 })
}

/**
 * A long weekend without a sync: more of the same, deletes of collections without a delta and of
 * references, and 73 hours, so that every delta link is dead.
 */
export async function workAndWait(service: Service): Promise<void> {
  await service.tell('/changes', {
    inserts: 400,
    updates: 1500,
    deletes: 300,
    softDeletes: 100,
    seed: 3,
  })
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
  await service.tell('/advance', { hours: 73 })
}
