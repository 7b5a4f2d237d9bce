import { addDays, type Clock, isDate } from '../clock.ts'
import { collections } from '../collections/collections.ts'
import { makeRecord } from '../generate/make-record.ts'
import type { Random } from '../generate/random.ts'
import type { ResolvedOptions } from '../options.ts'
import type { References } from '../references/references.ts'
import { type Fields, fieldsOf, type Id, type Store } from '../store/store.ts'
import { plausibleChange } from './plausible-change.ts'

/** Changes of the tenant, as its users and the service's own calculations make them. */
export interface Mutations {
  /** Makes up missing properties; returns the record as it is stored. */
  insert(collection: string, fields?: Fields): Fields
  /** Without a patch, makes a plausible change. */
  update(collection: string, id: Id, patch?: Fields): Fields
  /** Deletes a record, so that a delta reports a Delete. */
  remove(collection: string, id: Id): void
  /** Marks a record as deleted, where the collection does so. */
  softDelete(collection: string, id: Id): void
  /** Puts a record with its old id back. */
  restore(collection: string, record: Fields): void
}

/** What is changed, and by what time and chance. */
interface Parts {
  readonly store: Store
  readonly references: References
  readonly options: Pick<ResolvedOptions, 'deletedRecord'>
  readonly clock: Clock
  readonly random: Random
}

/** Makes the mutations of a tenant. */
export function createMutations({ store, references, options, clock, random }: Parts): Mutations {
  const read = (collection: string, id: Id) => {
    const record = store.find(collection, id)
    if (!record) throw new Error(`There is no record ${id} in ${collection}`)
    return fieldsOf(record)
  }
  const put = (collection: string, id: Id, fields: Fields) => {
    const stored = fieldsOf(store.put(collection, id, fields))
    if (collections[collection]?.savedTogether) saveOthers(collection, id)
    return stored
  }
  // Saving one group saves them all.
  const saveOthers = (collection: string, saved: Id) => {
    for (const record of [...store.records(collection)]) {
      if (record.id !== saved) store.put(collection, record.id, fieldsOf(record))
    }
  }
  const context = (person: unknown, day: unknown) => {
    const people = store.records('people')
    const someone = people.length === 0 ? 1 : random.pick(people).id
    const recent = addDays(clock.today(), -random.int(1, 20))
    const date = typeof day === 'string' && isDate(day) ? day : recent
    return { random, store, date, person: (person as Id | undefined) ?? someone }
  }

  return {
    insert(collection, fields = {}) {
      const owner = (fields['person'] as Fields | undefined)?.['id']
      const day = fields[collections[collection]?.dateField ?? 'from']
      const made = { ...makeRecord(collection, context(owner, day)), ...fields }
      const id = (made['id'] as Id | undefined) ?? store.newId(collection)
      if (store.find(collection, id)) throw new Error(`${collection} has a record ${id} already`)
      return put(collection, id, made)
    },
    update(collection, id, patch) {
      const fields = read(collection, id)
      const change = patch ?? plausibleChange({ collection, record: fields, random, store })
      return put(collection, id, { ...fields, ...change })
    },
    remove(collection, id) {
      store.remove(collection, id)
      if (options.deletedRecord === 'frees') references.forget(collection, id)
    },
    softDelete(collection, id) {
      if (!collections[collection]?.softDeletes) {
        throw new Error(`${collection} has no soft deletes: use remove`)
      }
      put(collection, id, { ...read(collection, id), status: 'Deleted' })
    },
    restore(collection, record) {
      if (record['id'] === undefined) throw new Error('Put back a record with its id')
      put(collection, record['id'] as Id, record)
    },
  }
}
