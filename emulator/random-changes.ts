import { collections } from './collections.ts'
import { dated } from './generate/dated.ts'
import type { Mutations } from './mutations.ts'
import { createRandom } from './random.ts'
import type { Id, Store } from './store.ts'

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
 * Makes changes all over the tenant. Only records that nothing refers to are deleted, and new records refer to existing
 * ones, so that related data stay related. Fewer changes than wanted are made when the records run out.
 */
export function randomChanges(wish: ChangeWish, store: Store, mutations: Mutations): ChangeCounts {
  const random = createRandom(wish.seed ?? 1)
  const counts: ChangeCounts = {}
  const every = Object.keys(collections)
  const leaves = Object.keys(dated)
  const soft = every.filter((name) => collections[name]?.softDeletes)

  const repeat = (
    times: number | undefined,
    kind: keyof ChangeCounts[string],
    names: readonly string[],
    act: (collection: string, id: Id | undefined) => boolean,
  ) => {
    for (let done = 0; done < (times ?? 0); done += 1) {
      const collection = random.pick(names)
      const records = store.records(collection)
      const id = records.length > 0 ? random.pick(records).id : undefined
      if (!act(collection, id)) continue
      counts[collection] ??= { inserts: 0, updates: 0, deletes: 0, softDeletes: 0 }
      counts[collection][kind] += 1
    }
  }
  const withId =
    (act: (collection: string, id: Id) => void) => (name: string, id: Id | undefined) => {
      if (id !== undefined) act(name, id)
      return id !== undefined
    }

  repeat(wish.inserts, 'inserts', every, (name) => Boolean(mutations.insert(name)))
  repeat(wish.updates, 'updates', every, withId(mutations.update))
  repeat(wish.softDeletes, 'softDeletes', soft, withId(mutations.softDelete))
  repeat(wish.deletes, 'deletes', leaves, withId(mutations.remove))
  return counts
}
