import type { ResolvedOptions } from '../options.ts'
import { type Fields, fieldsOf, type Store } from '../store/store.ts'
import type { Mutations } from './mutations.ts'
import { recalculate } from './recalculate.ts'

/**
 * The mutations, with the service's own calculations after them if `fanOut` is on: a change of a
 * clocking changes the totals of its day too.
 */
export function withFanOut(
  mutations: Mutations,
  store: Store,
  options: Pick<ResolvedOptions, 'fanOut'>,
): Mutations {
  const follow = (collection: string, record: Fields | undefined) => {
    if (!options.fanOut || collection !== 'clockings' || !record) return
    recalculate(store, mutations, record)
  }
  return {
    insert(collection, fields) {
      const record = mutations.insert(collection, fields)
      follow(collection, record)
      return record
    },
    update(collection, id, patch) {
      const record = mutations.update(collection, id, patch)
      follow(collection, record)
      return record
    },
    remove(collection, id) {
      const record = store.find(collection, id)
      mutations.remove(collection, id)
      follow(collection, record && fieldsOf(record))
    },
    softDelete(collection, id) {
      const record = store.find(collection, id)
      mutations.softDelete(collection, id)
      follow(collection, record && fieldsOf(record))
    },
    restore(collection, record) {
      mutations.restore(collection, record)
      follow(collection, record)
    },
  }
}
