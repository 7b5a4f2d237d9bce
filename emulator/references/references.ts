import { hasRecords, relations } from '../collections/collections.ts'
import type { ResolvedOptions } from '../options.ts'
import {
  type Fields,
  fieldsOf,
  type Id,
  type Store,
  type StoredRecord,
  withDigits,
} from '../store/store.ts'
import { type CustomReferences, createCustomReferences } from './custom-references.ts'
import { predefinedOf, type ReferencePair } from './reference-pairs.ts'

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

/** Starts without custom references. */
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
      const fields = JSON.parse(text) as Fields
      addReferences(fields, collection, pairs)
      walk(fields, pairs)
      return withDigits(JSON.stringify(fields))
    },
  }
}

/** Parses each version of a record once, because references of the same few are asked for often. */
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
