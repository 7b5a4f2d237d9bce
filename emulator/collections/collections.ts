import type { CollectionFacts } from './collection-facts.ts'
import { documentedCollections, documentedRelations } from './documented-collections.ts'
import { readSchemaCollections, type SchemaCollection } from './schema-collections.ts'

/** The collections that only a schema describes, by name: `schemas/shift_swaps.json`. */
export const schemaCollections: Readonly<Record<string, SchemaCollection>> = readSchemaCollections()

/** Every collection that has an endpoint, by name. */
export const collections: Readonly<Record<string, CollectionFacts>> = {
  ...documentedCollections,
  ...Object.fromEntries(
    Object.entries(schemaCollections).map(([name, { facts }]) => [name, facts]),
  ),
}

/** Whether records of a collection are kept; circles and groups exist as targets of references only. */
export function hasRecords(collection: string): boolean {
  return collection in collections || collection === 'terminals'
}

/** The collections that the objects with an id inside of records belong to, by property. */
export const relations: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(schemaCollections).map((collection) => collection.relations),
  documentedRelations,
)
