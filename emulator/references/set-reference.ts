import { collections } from '../collections/collections.ts'
import type { Id, Store } from '../store/store.ts'
import { predefinedOf } from './reference-pairs.ts'
import type { References } from './references.ts'

/** Registers a custom external reference, under the rules of the service. */
export type SetReference = (collection: string, name: string, value: string, id: Id) => void

/**
 * Makes the control that registers references. It throws for a collection without references, a name that is empty or
 * predefined, an empty value, a record that does not exist, and a value that is linked to another
 * record.
 */
export function createSetReference(references: References, store: Store): SetReference {
  return (collection, name, value, id) => {
    if (!predefinedOf(collection)) throw new Error(`${collection} takes no external references`)
    if (name === '' || value === '') throw new Error('A reference has a name and a value')
    if (name.startsWith('@')) throw new Error(`${name} is no custom reference: it is predefined`)
    // Circles and groups exist as targets of references only: they have no records.
    const hasRecords = collection in collections || collection === 'terminals'
    if (hasRecords && !store.find(collection, id)) {
      throw new Error(`There is no record ${id} in ${collection}`)
    }
    const linked = references.find({ collection, name }, value)
    if (linked !== undefined && linked !== id) {
      throw new Error(`${name} ${value} is linked to ${linked}: remove that reference first`)
    }
    references.set(collection, name, value, id)
  }
}
