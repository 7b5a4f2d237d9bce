import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { ResolvedOptions } from '../options.ts'
import {
  type CollectionFacts,
  documentedCollections,
  documentedRelations,
  plain,
} from './documented-collections.ts'

/** A collection for which the emulator knows only the schema of its records. */
export interface SchemaCollection {
  readonly facts: CollectionFacts
  /** The collections of the nested objects with an id, by property. */
  readonly relations: Readonly<Record<string, string>>
  /** Example records; at least one. */
  readonly examples: readonly Readonly<Record<string, unknown>>[]
}

/** The parts of a JSON Schema that describe a collection. */
export interface RecordSchema {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, RecordSchema>>
  readonly items?: RecordSchema
  readonly examples?: readonly Readonly<Record<string, unknown>>[]
}

// Resolved through the package, so that sources and compiled files find the same folder.
const packageFile = createRequire(import.meta.url).resolve('#package')

/**
 * The collections of the schemas in a folder that are not documented, by name. A schema without `id` is not a
 * collection.
 */
export function readSchemaCollections(
  folder = join(dirname(packageFile), 'schemas'),
): Record<string, SchemaCollection> {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter((stream) => !(nameOf(stream) in documentedCollections))
  const schemas = names.map((stream): [string, RecordSchema] => [
    nameOf(stream),
    JSON.parse(readFileSync(join(folder, `${stream}.json`), 'utf8')),
  ])
  return Object.fromEntries(
    schemas
      .filter(([, { properties = {} }]) => 'id' in properties)
      .map(([name, schema]) => [name, schemaCollection(name, schema)]),
  )
}

/**
 * Derives the facts of a collection from its schema. With a `date`, lists need a filter on that date; with
 * only a `from`, the filter is optional. If its `status` can be `Deleted`, it has soft deletes. It refers to
 * the collections in its descriptions (`joins to people.id`). It has a list, a delta, and the external
 * references of all these collections, because a schema does not say which it has. Throws if it has no example.
 */
export function schemaCollection(name: string, schema: RecordSchema): SchemaCollection {
  const { properties = {}, examples = [] } = schema
  if (examples.length === 0) throw new Error(`The schema of ${name} has no examples`)
  const relations = relationsOf(schema)
  const isOwn = 'externalReferences' in properties
  const references = [...new Set([...Object.values(relations), ...(isOwn ? [name] : [])])]
  const dateField = (['date', 'from'] as const).find((field) => field in properties)
  const dateFilters = dateField === undefined ? [] : ['date']
  const facts: CollectionFacts = {
    ...plain,
    scopes: [name],
    single: isOwn ? 'reference' : 'id',
    custom: isOwn,
    references: { list: references, single: references, delta: references },
    softDeletes: /\bDeleted\b/.test(properties['status']?.description ?? ''),
    listFilters: 'person' in properties ? [...dateFilters, 'person'] : dateFilters,
    deltaFilters: dateFilters,
    yearOnly: dateField === 'date',
    ...(dateField && { dateField }),
    ...(dateField === 'from' && { isDateOptional: true as const }),
    ...(properties['id']?.type === 'string' && { hasGuids: true as const }),
  }
  return { facts, relations, examples }
}

function relationsOf({ properties = {} }: RecordSchema): Record<string, string> {
  const found: Record<string, string> = {}
  for (const [property, schema] of Object.entries(properties)) {
    const object = schema.items ?? schema
    const id = object.properties?.['id']
    const [, stream] = /\bjoins to (\w+)\.id\b/.exec(id?.description ?? '') ?? []
    const target = stream === undefined ? documentedRelations[property] : nameOf(stream)
    if (id && target !== undefined) found[property] = target
    Object.assign(found, relationsOf(object))
  }
  return found
}

/** The collection of a stream: `shift_swaps` is `shift-swaps`. */
function nameOf(stream: string): string {
  return stream.replaceAll('_', '-')
}

/** The collections that only a schema describes, by name: `schemas/shift_swaps.json`. */
export const schemaCollections: Readonly<Record<string, SchemaCollection>> = readSchemaCollections()

/** Every collection that has an endpoint, by name. */
export const collections: Readonly<Record<string, CollectionFacts>> = {
  ...documentedCollections,
  ...Object.fromEntries(
    Object.entries(schemaCollections).map(([name, { facts }]) => [name, facts]),
  ),
}

/** Whether the collection has records; circles and groups exist only as targets of references. */
export function hasRecords(collection: string): boolean {
  return collection in collections || collection === 'terminals'
}

/** The collections of the nested objects with an id, by property. */
export const relations: Readonly<Record<string, string>> = Object.assign(
  {},
  ...Object.values(schemaCollections).map((collection) => collection.relations),
  documentedRelations,
)

/** The kinds of read request that a collection may offer. */
export type Operation = 'list' | 'single' | 'delta'

type Dialect = ResolvedOptions['dialect']

// The endpoints of the specification; the documentation has all others, too.
const specified: Readonly<Record<Operation, readonly string[]>> = {
  list: ['employers', 'work-locations', 'shift-definitions'],
  single: ['access-clockings', 'departments', 'job-categories'],
  delta: ['access-clockings', 'departments', 'employers', 'jobs', 'shift-definitions'],
}

/** Whether the dialect has this operation for the collection. */
export function offers(dialect: Dialect, operation: Operation, collection: string): boolean {
  const facts = collections[collection]
  if (!facts) return false
  if (dialect === 'specification') return specified[operation].includes(collection)
  if (operation === 'list') return true
  return operation === 'delta' ? facts.delta : facts.single !== 'none'
}

/** The middle parts of the scopes of a collection. In the specification it is always the name. */
export function scopesOf(dialect: Dialect, collection: string): readonly string[] {
  if (dialect === 'specification') return [collection]
  return collections[collection]?.scopes ?? [collection]
}

/**
 * The middle parts of the scope names for everything that can be read, without webhooks and without the
 * general `all`. The specification names terminals as a collection, although nothing lists them.
 */
export function scopeNames(dialect: Dialect): string[] {
  const names = Object.keys(collections).flatMap((name) => scopesOf(dialect, name))
  const more = dialect === 'specification' ? ['terminals'] : []
  return [...new Set([...names, ...more, 'external-references'])]
}
