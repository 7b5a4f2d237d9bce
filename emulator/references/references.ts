import { collections, hasRecords, referenceTargets, relations } from '../collections/collections.ts'
import { notValid } from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import {
  exactFieldsOf,
  type Fields,
  fieldsOf,
  type Id,
  type Store,
  type StoredRecord,
  textOf,
} from '../store/store.ts'

/** One pair of the parameter `externalReferences`: a reference name of a collection. */
export interface ReferencePair {
  readonly collection: string
  readonly name: string
}

/**
 * Predefined reference names of a collection with their properties; undefined if it has no references.
 */
export function predefinedOf(collection: string): Readonly<Record<string, string>> | undefined {
  const facts = collections[collection]
  return facts?.custom ? facts.predefined : referenceTargets[collection]
}

/**
 * Reads `(<collection>,<name>)(<collection>,<name>)...`. Anything else is a 400, and so is a
 * collection that the endpoint does not allow.
 */
export function parsePairs(text: string | undefined, allowed: readonly string[]): ReferencePair[] {
  if (text === undefined) return []
  if (allowed.length === 0) throw notValid('externalReferences is not supported here')
  if (!/^(\([^(),]+,[^(),]+\))+$/.test(text)) {
    throw notValid('externalReferences has the form (collection,name)(collection,name)')
  }
  return [...text.matchAll(/\(([^,]+),([^)]+)\)/g)].map(([, collection = '', name = '']) => {
    const pair = { collection: collection.trim(), name: name.trim() }
    checkPair(pair, allowed)
    return pair
  })
}

function checkPair({ collection, name }: ReferencePair, allowed: readonly string[]): void {
  if (!allowed.includes(collection)) {
    throw notValid(`External references of ${collection} are not supported here`)
  }
  if (name.startsWith('@') && !(name in (predefinedOf(collection) ?? {}))) {
    throw notValid(`${collection} has no predefined reference ${name}`)
  }
}

/** A custom reference as its endpoint shows it. */
export interface CustomReference {
  readonly referenceName: string
  readonly externalReference: string
  readonly internalReference: string
}

/** The custom references of all collections. */
interface CustomReferences {
  /**
   * Gives the record with this id a value under a name. It replaces the value that the record had, and
   * another record that had this value loses it.
   */
  set(collection: string, name: string, value: string, id: Id): void
  remove(collection: string, name: string, value: string): void
  /** Removes all references of a record. */
  forget(collection: string, id: Id): void
  /** The references of a collection by name and value. */
  list(collection: string): readonly CustomReference[]
  /** The reference with this value, as it was registered. */
  get(pair: ReferencePair & { readonly value: string }): CustomReference | undefined
  /** The id behind a value. */
  find(pair: ReferencePair, value: string): Id | undefined
  /** The value that a record has under a name. */
  valueOf(pair: ReferencePair, id: Id): string | undefined
}

/** The values under one name of a collection, by value and by id. */
interface Names {
  readonly collection: string
  readonly name: string
  readonly ids: Map<string, Id>
  readonly values: Map<Id, string>
}

/** Creates an empty table of custom references. */
function createCustomReferences(options: Pick<ResolvedOptions, 'referenceCase'>): CustomReferences {
  const all = new Map<string, Names>()
  // Sorted lists are kept, because they are requested page by page and sorting many references takes long.
  const lists = new Map<string, readonly CustomReference[]>()

  const key = (collection: string, name: string) => `${collection} ${name}`
  const namesOf = (collection: string, name: string) => all.get(key(collection, name))
  /** The value as it was registered. */
  const registered = (names: Names | undefined, value: string): string | undefined => {
    if (!names || names.ids.has(value)) return names && value
    if (options.referenceCase === 'sensitive') return undefined
    return [...names.ids.keys()].find((one) => one.toLowerCase() === value.toLowerCase())
  }
  const unlink = (names: Names, value: string | undefined) => {
    const id = names.ids.get(value ?? '')
    if (value === undefined || id === undefined) return
    names.ids.delete(value)
    names.values.delete(id)
    lists.delete(names.collection)
  }

  return {
    set(collection, name, value, id) {
      const known = namesOf(collection, name)
      const names = known ?? { collection, name, ids: new Map(), values: new Map() }
      all.set(key(collection, name), names)
      unlink(names, names.values.get(id))
      unlink(names, registered(names, value))
      names.ids.set(value, id)
      names.values.set(id, value)
      lists.delete(collection)
    },
    remove(collection, name, value) {
      const names = namesOf(collection, name)
      if (names) unlink(names, registered(names, value))
    },
    forget(collection, id) {
      for (const names of all.values()) {
        if (names.collection === collection) unlink(names, names.values.get(id))
      }
    },
    list(collection) {
      const known = lists.get(collection)
      if (known) return known
      const groups = [...all.values()].filter((names) => names.collection === collection)
      const list = groups.flatMap(({ name, ids }) => [...ids].map(shown(name))).sort(byNameAndValue)
      lists.set(collection, list)
      return list
    },
    get({ collection, name, value }) {
      const names = namesOf(collection, name)
      const found = registered(names, value)
      const id = found === undefined ? undefined : names?.ids.get(found)
      return found === undefined || id === undefined ? undefined : shown(name)([found, id])
    },
    find({ collection, name }, value) {
      const names = namesOf(collection, name)
      return names?.ids.get(registered(names, value) ?? '')
    },
    valueOf: ({ collection, name }, id) => namesOf(collection, name)?.values.get(id),
  }
}

function shown(name: string): (entry: readonly [string, Id]) => CustomReference {
  return ([value, id]) => ({
    referenceName: name,
    externalReference: value,
    internalReference: String(id),
  })
}

function byNameAndValue(a: CustomReference, b: CustomReference): number {
  const left = `${a.referenceName} ${a.externalReference}`
  const right = `${b.referenceName} ${b.externalReference}`
  return left < right ? -1 : Number(left > right)
}

/**
 * External references of all collections: the custom ones are kept here, the predefined ones are
 * properties of records.
 */
export interface References extends CustomReferences {
  /** The id of the live record with this reference value, custom or predefined. */
  find(pair: ReferencePair, value: string): Id | undefined
  /** Adds the wanted references to a record, and to the objects inside of it that they belong to. */
  decorate(collection: string, text: string, pairs: readonly ReferencePair[]): string
}

/** Creates the references of a store, without custom ones. */
export function createReferences(
  store: Store,
  options: Pick<ResolvedOptions, 'referenceCase'>,
): References {
  const custom = createCustomReferences(options)
  const parsed = createParsed()

  const predefined = ({ collection, name }: ReferencePair, record: StoredRecord) => {
    const value = parsed(collection, record)[predefinedOf(collection)?.[name] ?? '']
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  const referenceOf = (pair: ReferencePair, id: Id): string | undefined => {
    if (!pair.name.startsWith('@')) return custom.valueOf(pair, id)
    const record = recordOf(store, pair.collection, id)
    return record && predefined(pair, record)
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
    ...custom,
    find(pair, value) {
      if (!pair.name.startsWith('@')) return custom.find(pair, value)
      return store.records(pair.collection).find((record) => predefined(pair, record) === value)?.id
    },
    decorate(collection, text, pairs) {
      if (pairs.length === 0) return text
      const fields = exactFieldsOf(text)
      addReferences(fields, collection, pairs)
      walk(fields, pairs)
      return textOf(fields)
    },
  }
}

/** Parses each version of a record once, because the same few records are often referred to. */
function createParsed(): (collection: string, record: StoredRecord) => Fields {
  const tables = new Map<string, Map<Id, { readonly version: string; readonly fields: Fields }>>()
  return (collection, record) => {
    const { id, version } = record
    const table = tables.get(collection) ?? new Map()
    tables.set(collection, table)
    const known = table.get(id)
    if (known?.version === version) return known.fields
    const fields = fieldsOf(record)
    table.set(id, { version, fields })
    return fields
  }
}

function recordOf(store: Store, collection: string, id: Id): StoredRecord | undefined {
  return hasRecords(collection) ? store.find(collection, id) : undefined
}

const guid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The id in a text for a collection, an integer or a GUID; undefined for any other text. */
export function parseId(collection: string, text: string): Id | undefined {
  if (collections[collection]?.hasGuids) return guid.test(text) ? text.toLowerCase() : undefined
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
