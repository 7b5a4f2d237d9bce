import { addDays } from '../clock.ts'
import { collections } from '../collections/collections.ts'
import { clockingAt } from '../generate/dated.ts'
import { histories, openPeriod } from '../generate/histories.ts'
import { timesInAndOut } from '../generate/hours.ts'
import { hiredOn } from '../generate/people.ts'
import type { Random } from '../generate/random.ts'
import { fieldsOf, type Store } from '../store/store.ts'
import { clockingsOfDay } from './clocking-pair.ts'
import type { Mutations } from './mutations.ts'
import { recalculate } from './recalculate.ts'

/** The tenant to change, and what changes it. */
export interface Tenant {
  readonly store: Store
  readonly random: Random
  readonly mutations: Mutations
}

/** One recent day of one person. */
interface Day {
  readonly person: number
  readonly date: string
}

const recentDays = 20

/**
 * Inserts a record of the collection and those that belong to it: an employee with a contract and a
 * department, a clocking with its counterpart. Returns how many; none when that would be more than
 * `left`.
 */
export function plausibleInsert(collection: string, left: number, tenant: Tenant): number {
  const { mutations } = tenant
  const day = recentDay(tenant)
  if (!day) {
    mutations.insert(collection)
    return 1
  }
  if (collection === 'people') return hire(left, day, tenant)
  if (collection in histories) return move(collection, day, tenant)
  if (collection === 'calculated-totals') return work(left, day, tenant)
  if (collection === 'clockings') return comeBack(left, day, tenant)
  const { dateField, listFilters = [] } = collections[collection] ?? {}
  const person = listFilters.includes('person') ? { person: { id: day.person } } : {}
  mutations.insert(collection, dateField ? { ...person, [dateField]: day.date } : {})
  return 1
}

function recentDay({ store, random }: Tenant): Day | undefined {
  const totals = store.records('calculated-totals')
  const recent = Math.min(totals.length, recentDays * store.records('people').length)
  if (recent === 0) return undefined
  const { person = 0, date = '' } =
    totals.at(totals.length - recent + random.int(0, recent - 1)) ?? {}
  return { person, date }
}

/** Somebody who is hired within the next weeks. */
function hire(left: number, { date }: Day, { random, mutations }: Tenant): number {
  const parts = ['contracts', ...Object.keys(histories)]
  if (left < 1 + parts.length) return 0
  const from = addDays(date, recentDays + random.int(1, 10))
  const { id } = mutations.insert('people', { inServiceDate: from })
  for (const collection of parts) mutations.insert(collection, { person: { id }, from })
  return 1 + parts.length
}

/** A new department, job, ... ends the one before. */
function move(collection: string, day: Day, { store, random, mutations }: Tenant): number {
  const before = store
    .records(collection)
    .about(day.person)
    .find(({ text }) => text.includes('"until":null'))
  if (!before) return 0
  const fields = fieldsOf(before)
  const [, date = ''] = [day.date, addDays(String(fields['from']), 1)].sort()
  mutations.update(collection, before.id, { until: addDays(date, -1) })
  mutations.insert(collection, openPeriod(collection, { random, store, ...day, date }, fields))
  return 1
}

/** One more day of work, the first that has no totals yet. */
function work(left: number, { person }: Day, { store, random, mutations }: Tenant): number {
  if (left < 3) return 0
  const latest = store.records('calculated-totals').about(person)
  const dates = latest.map(({ date = '' }) => date).sort()
  const date = dates.length === 0 ? hiredOn(store, person) : addDays(dates.at(-1) ?? '', 1)
  const context = { store, random, date, person }
  const start = random.int(420, 560)
  for (const time of [start, start + random.int(430, 540)]) {
    mutations.insert('clockings', clockingAt(context, time, { kind: 'InOut' }))
  }
  mutations.insert('calculated-totals', { person: { id: person }, date })
  return 3
}

/** Somebody comes back for a while after a day of work, or adds a forgotten clocking out. */
function comeBack(left: number, day: Day, { store, random, mutations }: Tenant): number {
  const times = timesInAndOut(clockingsOfDay(day, store).map(fieldsOf))
  const first = (times.at(-1) ?? 540) + random.int(30, 60)
  const added = times.length % 2 === 1 ? [first] : [first, first + random.int(15, 90)]
  if (added.length > left || first > 2700) return 0
  for (const time of added) {
    const clocking = clockingAt({ store, random, ...day }, time, { kind: 'InOut' })
    mutations.insert('clockings', clocking)
  }
  recalculate(store, mutations, { person: { id: day.person }, date: day.date })
  return added.length
}
