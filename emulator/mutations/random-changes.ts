import { addDays } from '../clock.ts'
import { collections, relations, schemaCollections } from '../collections/collections.ts'
import { clockingAt, dated, isInOut, timeOf, timesInAndOut } from '../generate/dated.ts'
import { hiredOn, histories, openPeriod } from '../generate/people.ts'
import { createRandom, type Random } from '../generate/random.ts'
import { fieldsOf, type Store, type StoredRecord } from '../store/store.ts'
import { type Mutations, recalculate } from './mutations.ts'

/** The clockings of a person's day, of all kinds. */
function clockingsOfDay(
  { person, date }: Pick<StoredRecord, 'person' | 'date'>,
  store: Store,
): StoredRecord[] {
  return store
    .records('clockings')
    .about(person)
    .filter((record) => record.date === date)
}

/**
 * A clocking in with the clocking out that belongs to it, or the other way round. A clocking of another kind is
 * returned alone, and so is every clocking of a day on which one was forgotten.
 */
function clockingPair(clocking: StoredRecord, store: Store): readonly StoredRecord[] {
  const pairs = clockingsOfDay(clocking, store)
    .filter((record) => isInOut(fieldsOf(record)))
    .sort((a, b) => timeOf(fieldsOf(a)) - timeOf(fieldsOf(b)))
  const at = pairs.findIndex(({ id }) => id === clocking.id)
  const other = pairs.length % 2 === 0 ? pairs[at ^ 1] : undefined
  return at === -1 || other === undefined ? [clocking] : [clocking, other]
}

/** A tenant, and the means to change it. */
interface Tenant {
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
 * department, a clocking with its counterpart. Returns how many records were inserted; none are if there would be more
 * than `left`.
 */
function plausibleInsert(collection: string, left: number, tenant: Tenant): number {
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

/** Hires somebody within the next weeks. */
function hire(left: number, { date }: Day, { random, mutations }: Tenant): number {
  const parts = ['contracts', ...Object.keys(histories)]
  if (left < 1 + parts.length) return 0
  const from = addDays(date, recentDays + random.int(1, 10))
  const { id } = mutations.insert('people', { inServiceDate: from })
  for (const collection of parts) mutations.insert(collection, { person: { id }, from })
  return 1 + parts.length
}

/** Moves somebody to another department, job, ...; the period before ends. */
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

/** Adds a day of work: the first day of the person without totals. */
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

/** Lets somebody come back for a while after a day of work, or adds a forgotten clocking out. */
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

/** How many changes of each kind are wanted in total. */
export interface WantedChanges {
  readonly inserts?: number
  readonly updates?: number
  readonly deletes?: number
  readonly softDeletes?: number
  /** @default 1 */
  readonly seed?: number
}

/** The numbers of changes, by collection. */
export type ChangeCounts = Record<
  string,
  { inserts: number; updates: number; deletes: number; softDeletes: number }
>

/**
 * Makes changes all over the tenant that leave it plausible: only records that nothing refers to
 * are deleted, new records refer to existing ones, a new department of somebody ends the old one,
 * clockings come and go in pairs, and the totals of each day stay and follow the clockings. Fewer
 * changes than wanted are made when the records run out. Updates that follow from other changes are
 * counted beside the wanted ones.
 */
export function randomChanges(
  wanted: WantedChanges,
  store: Store,
  mutations: Mutations,
): ChangeCounts {
  const random = createRandom(wanted.seed ?? 1)
  const { counts, counted } = counting(mutations)
  const tenant = { store, random, mutations: counted }
  const every = Object.keys(collections)
  const soft = every.filter((name) => collections[name]?.softDeletes)
  const targets = Object.values(relations)
  const deletable = [...Object.keys(dated), ...Object.keys(schemaCollections)].filter(
    (name) => name !== 'calculated-totals' && !targets.includes(name),
  )

  repeat(wanted.inserts, (left) => plausibleInsert(random.pick(every), left, tenant))
  repeat(wanted.updates, () => update(random.pick(every), tenant))
  repeat(wanted.softDeletes, (left) => take('softDelete', random.pick(soft), left, tenant))
  repeat(wanted.deletes, (left) => take('remove', random.pick(deletable), left, tenant))
  return counts
}

/**
 * Calls `act`, which returns how many changes it made, until there are as many as wanted, but at most 20 times as often.
 */
function repeat(wanted = 0, act: (left: number) => number): void {
  let left = wanted
  for (let tries = 20 * wanted; left > 0 && tries > 0; tries -= 1) left -= act(left)
}

function update(collection: string, { store, random, mutations }: Tenant): number {
  const records = store.records(collection)
  if (records.length === 0) return 0
  const after = mutations.update(collection, random.pick(records).id)
  if (collection === 'clockings') recalculate(store, mutations, after)
  return 1
}

function take(how: 'remove' | 'softDelete', collection: string, left: number, tenant: Tenant) {
  const { store, random, mutations } = tenant
  const records = store.records(collection)
  if (records.length === 0) return 0
  const record = random.pick(records)
  const fields = fieldsOf(record)
  const gone = collection === 'clockings' ? clockingPair(record, store) : [record]
  const isDone = how === 'softDelete' && fields['status'] === 'Deleted'
  if (isDone || gone.length > left) return 0
  for (const { id } of gone) mutations[how](collection, id)
  if (collection === 'clockings') recalculate(store, mutations, fields)
  return gone.length
}

type Kind = 'inserts' | 'updates' | 'deletes' | 'softDeletes'

function counting(mutations: Mutations): { counts: ChangeCounts; counted: Mutations } {
  const counts: ChangeCounts = {}
  const count = (collection: string, kind: Kind) => {
    counts[collection] ??= { inserts: 0, updates: 0, deletes: 0, softDeletes: 0 }
    counts[collection][kind] += 1
  }
  const counted: Mutations = {
    insert(collection, fields) {
      count(collection, 'inserts')
      return mutations.insert(collection, fields)
    },
    update(collection, id, patch) {
      count(collection, 'updates')
      return mutations.update(collection, id, patch)
    },
    remove(collection, id) {
      count(collection, 'deletes')
      mutations.remove(collection, id)
    },
    softDelete(collection, id) {
      count(collection, 'softDeletes')
      mutations.softDelete(collection, id)
    },
    restore: mutations.restore,
    revert: mutations.revert,
  }
  return { counts, counted }
}
