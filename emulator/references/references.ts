import { collections, relations } from '../collections/collections.ts'
import type { Fields, Id, Store, StoredRecord } from '../store/store.ts'
import { predefinedOf, type ReferencePair } from './reference-pairs.ts'

/** A custom reference as its endpoint shows it. */
export interface CustomReference {
  readonly referenceName: string
  readonly externalReference: string
  readonly internalReference: string
}

/**
 * External references of all collections: the custom ones are kept here, the predefined ones are
 * properties of records.
 */
export interface References {
  /**
   * Gives the record with this id a value under a name. It replaces the value that the record had, and
   * another record that had this value loses it.
   */
  set(collection: string, name: string, value: string, id: Id): void
  remove(collection: string, name: string, value: string): void
  /** Custom references of a collection by name and value. */
  list(collection: string): CustomReference[]
  /** The id of the live record with this reference value. */
  find(pair: ReferencePair, value: string): Id | undefined
  /** Adds the wanted references to a record, and to the objects inside of it that they belong to. */
  decorate(collection: string, text: string, pairs: readonly ReferencePair[]): string
}

/** The values under one reference name, by value and by id. */
interface Names {
  readonly ids: Map<string, Id>
  readonly values: Map<Id, string>
}

/** Starts without custom references. */
export function createReferences(store: Store): References {
  const custom = new Map<string, Names>()
  const parsed = new WeakMap<StoredRecord, Fields>()

  const key = (collection: string, name: string) => `${collection} ${name}`
  const fieldsOf = (record: StoredRecord): Fields => {
    const known = parsed.get(record) ?? (JSON.parse(record.text) as Fields)
    parsed.set(record, known)
    return known
  }
  const predefined = ({ collection, name }: ReferencePair, record: StoredRecord) => {
    const value = fieldsOf(record)[predefinedOf(collection)?.[name] ?? '']
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const referenceOf = (pair: ReferencePair, id: Id): string | undefined => {
    const record = recordOf(store, pair.collection, id)
    if (pair.name.startsWith('@')) return record && predefined(pair, record)
    return custom.get(key(pair.collection, pair.name))?.values.get(id)
  }

  const addReferences = (object: Fields, collection: string, pairs: readonly ReferencePair[]) => {
    const found: Record<string, string> = {}
    for (const pair of pairs) {
      const value =
        pair.collection === collection ? referenceOf(pair, object['id'] as Id) : undefined
      if (value !== undefined) found[pair.name] = value
    }
    if (Object.keys(found).length > 0) object['externalReferences'] = found
  }
  const walk = (object: Fields, pairs: readonly ReferencePair[]): void => {
    for (const [property, value] of Object.entries(object)) {
      for (const inner of Array.isArray(value) ? value : [value]) {
        if (typeof inner !== 'object' || inner === null || property === 'externalReferences')
          continue
        const target = relations[property]
        if (target && 'id' in inner) addReferences(inner, target, pairs)
        walk(inner, pairs)
      }
    }
  }

  return {
    set(collection, name, value, id) {
      const names = custom.get(key(collection, name)) ?? { ids: new Map(), values: new Map() }
      custom.set(key(collection, name), names)
      names.ids.delete(names.values.get(id) ?? '')
      names.values.delete(names.ids.get(value) ?? '')
      names.ids.set(value, id)
      names.values.set(id, value)
    },
    remove(collection, name, value) {
      const names = custom.get(key(collection, name))
      const id = names?.ids.get(value)
      if (id === undefined) return
      names?.ids.delete(value)
      names?.values.delete(id)
    },
    list: (collection) =>
      [...custom]
        .filter(([group]) => group.startsWith(`${collection} `))
        .flatMap(([group, { ids }]) =>
          [...ids].map(([value, id]) => ({
            referenceName: group.slice(collection.length + 1),
            externalReference: value,
            internalReference: String(id),
          })),
        )
        .sort(byNameAndValue),
    find(pair, value) {
      if (!pair.name.startsWith('@'))
        return custom.get(key(pair.collection, pair.name))?.ids.get(value)
      return store.records(pair.collection).find((record) => predefined(pair, record) === value)?.id
    },
    decorate(collection, text, pairs) {
      if (pairs.length === 0) return text
      const fields = JSON.parse(text) as Fields
      addReferences(fields, collection, pairs)
      walk(fields, pairs)
      return JSON.stringify(fields)
    },
  }
}

function recordOf(store: Store, collection: string, id: Id): StoredRecord | undefined {
  const known = collection in collections || collection === 'terminals'
  return known ? store.find(collection, id) : undefined
}

function byNameAndValue(a: CustomReference, b: CustomReference): number {
  const left = `${a.referenceName} ${a.externalReference}`
  const right = `${b.referenceName} ${b.externalReference}`
  return left < right ? -1 : Number(left > right)
}
