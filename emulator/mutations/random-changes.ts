import { collections, relations, schemaCollections } from '../collections/collections.ts'
import { dated } from '../generate/dated.ts'
import { createRandom } from '../generate/random.ts'
import { fieldsOf, type Store } from '../store/store.ts'
import { clockingPair } from './clocking-pair.ts'
import type { Mutations } from './mutations.ts'
import { plausibleInsert, type Tenant } from './plausible-insert.ts'
import { recalculate } from './recalculate.ts'

/** How many changes of each kind are wanted in total. */
export interface WantedChanges {
  readonly inserts?: number
  readonly updates?: number
  readonly deletes?: number
  readonly softDeletes?: number
  /** @default 1 */
  readonly seed?: number
}

/** What was done, by collection. */
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
 * Acts until as many changes are made as wanted. `act` returns how many it made, which can be none.
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
  }
  return { counts, counted }
}
