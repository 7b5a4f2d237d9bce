import { collections } from './collections.ts'
import { dated } from './generate/dated.ts'
import { fieldsOf, type Mutations } from './mutations.ts'
import { createRandom } from './random.ts'
import { recalculate } from './recalculate.ts'
import type { Fields, Id, Store } from './store.ts'

/** How many changes of each kind are wanted in total. */
export interface ChangeWish {
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
 * Makes changes all over the tenant. Only records that nothing refers to are deleted, new records
 * refer to existing ones, and totals follow their clockings, so that related data stay related.
 * Fewer changes than wanted are made when the records run out.
 */
export function randomChanges(wish: ChangeWish, store: Store, mutations: Mutations): ChangeCounts {
  const random = createRandom(wish.seed ?? 1)
  const counts: ChangeCounts = {}
  const every = Object.keys(collections)
  const soft = every.filter((name) => collections[name]?.softDeletes)

  const count = (collection: string, kind: Kind) => {
    counts[collection] ??= { inserts: 0, updates: 0, deletes: 0, softDeletes: 0 }
    counts[collection][kind] += 1
  }
  const follow = (collection: string, record: Fields | undefined) => {
    if (collection !== 'clockings' || !record) return
    if (recalculate(store, mutations, record)) count('calculated-totals', 'updates')
  }
  const repeat = (kind: Kind, names: readonly string[], act: Act) => {
    for (let left = wish[kind] ?? 0; left > 0; left -= 1) {
      const collection = random.pick(names)
      const records = store.records(collection)
      if (records.length === 0) continue
      const before = random.pick(records)
      const after = act(collection, before.id)
      count(collection, kind)
      follow(collection, after ?? fieldsOf(before))
    }
  }

  for (let left = wish.inserts ?? 0; left > 0; left -= 1) {
    const collection = random.pick(every)
    follow(collection, mutations.insert(collection))
    count(collection, 'inserts')
  }
  repeat('updates', every, (collection, id) => mutations.update(collection, id))
  const without = (act: (collection: string, id: Id) => void) => (collection: string, id: Id) => {
    act(collection, id)
    return undefined
  }
  repeat('softDeletes', soft, without(mutations.softDelete))
  repeat('deletes', Object.keys(dated), without(mutations.remove))
  return counts
}

type Kind = 'inserts' | 'updates' | 'deletes' | 'softDeletes'

type Act = (collection: string, id: Id) => Fields | undefined
