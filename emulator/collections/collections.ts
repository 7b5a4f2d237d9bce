import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { ResolvedOptions } from '../options.ts'

/** The properties of one collection, and its rules. */
export interface CollectionFacts {
  /** The middle parts of its scope names; one of them is enough. */
  readonly scopes: readonly string[]
  /** The key of the endpoint for single records, if there is one. */
  readonly single: 'id' | 'reference' | 'none'
  readonly delta: boolean
  /** Set if ids are GUIDs, not integers. */
  readonly hasGuids?: true
  /** The property behind the filter `date`, which lists and deltas require when it is set. */
  readonly dateField?: 'date' | 'from'
  /** Set if that filter is optional. */
  readonly isDateOptional?: true
  /** Whether a list's range of dates is limited to one year. */
  readonly yearOnly: boolean
  readonly listFilters: readonly string[]
  readonly deltaFilters: readonly string[]
  /** Collections whose external references can be asked for, per kind of request. */
  readonly references: {
    readonly list: readonly string[]
    readonly single: readonly string[]
    readonly delta: readonly string[]
  }
  /** Predefined reference names and the properties behind them. */
  readonly predefined: Readonly<Record<string, string>>
  readonly custom: boolean
  /** Whether deleted records stay, with the status Deleted. */
  readonly softDeletes: boolean
  /** Whether saving one record saves all records of the collection. */
  readonly savedTogether: boolean
  /** The status for an unknown continuation token. */
  readonly unknownToken: 400 | 409
}

/** The facts of a collection that has no special rules. */
const plain: CollectionFacts = {
  scopes: [],
  single: 'none',
  delta: true,
  yearOnly: false,
  listFilters: [],
  deltaFilters: [],
  references: { list: [], single: [], delta: [] },
  predefined: {},
  custom: false,
  softDeletes: false,
  savedTogether: false,
  unknownToken: 400,
}

type Particulars = Partial<Omit<CollectionFacts, 'references'>>

function related(...names: readonly string[]): CollectionFacts['references'] {
  return { list: names, single: names, delta: names }
}

function dated(references: readonly string[], more: Particulars = {}): CollectionFacts {
  return {
    ...plain,
    single: 'id',
    dateField: 'date',
    yearOnly: true,
    listFilters: ['date', 'person'],
    deltaFilters: ['date'],
    references: related(...references),
    ...more,
  }
}

function referenceData(name: string, more: Particulars = {}): CollectionFacts {
  const references = { list: [], single: [name], delta: [] }
  return { ...plain, single: 'reference', custom: true, references, ...more }
}

function history(entity: string): CollectionFacts {
  return {
    ...plain,
    scopes: ['people', 'people-historical-data'],
    delta: false,
    references: { list: [entity], single: ['people'], delta: [] },
  }
}

/**
 * Every collection that the vendor documents. In the dialect of the documentation each of them has a
 * list.
 */
export const documentedCollections: Readonly<Record<string, CollectionFacts>> = named({
  absences: dated(['people', 'shift-definitions', 'absence-definitions']),
  'absence-definitions': {
    ...referenceData('absence-definitions', { predefined: { '@absence-code': 'code' } }),
    references: {
      list: ['absence-groups'],
      single: ['absence-definitions', 'absence-groups'],
      delta: ['absence-groups'],
    },
  },
  'absence-groups': referenceData('absence-groups', { savedTogether: true }),
  'access-clockings': dated(['people', 'terminals']),
  'activity-definitions': {
    ...referenceData('activity-definitions', {
      delta: false,
      hasGuids: true,
      predefined: {
        '@data-entry-code': 'dataEntryCode',
        '@external-reference': 'externalReference',
      },
    }),
    references: related('activity-definitions'),
  },
  'activity-durations': dated(
    ['people', 'activity-definitions', 'absence-definitions', 'counter-definitions'],
    { softDeletes: true },
  ),
  assignments: dated(['people', 'activity-definitions'], { dateField: 'from', yearOnly: false }),
  'break-definitions': referenceData('break-definitions'),
  breaks: dated(['people']),
  'calculated-totals': dated(['people', 'shift-definitions'], { single: 'none' }),
  clockings: dated(['people', 'terminals', 'activity-definitions', 'absence-definitions'], {
    listFilters: ['date', 'person', 'kind'],
    softDeletes: true,
  }),
  contracts: {
    ...referenceData('contracts', { listFilters: ['person'], unknownToken: 409 }),
    references: related('contracts', 'people'),
  },
  counters: dated(['people', 'shift-definitions', 'counter-definitions'], {
    listFilters: ['date', 'person', 'counter-definition', 'status'],
    deltaFilters: ['date', 'counter-definition', 'status'],
  }),
  'counter-definitions': {
    ...referenceData('counter-definitions', {
      listFilters: ['counter-group', 'enabled'],
      deltaFilters: ['counter-group', 'enabled'],
      predefined: { '@counter-code': 'code' },
    }),
    references: related('counter-definitions', 'counter-groups'),
  },
  'counter-groups': referenceData('counter-groups', { savedTogether: true }),
  departments: referenceData('departments'),
  employers: referenceData('employers'),
  'job-categories': referenceData('job-categories', { delta: false }),
  jobs: referenceData('jobs'),
  'paid-presences': dated(['people', 'shift-definitions'], {
    scopes: ['calculated-totals'],
    single: 'none',
  }),
  people: {
    ...referenceData('people', {
      listFilters: ['person'],
      predefined: { '@badge-number': 'badgeNumber', '@employee-number': 'employeeNumber' },
    }),
    references: related('people'),
  },
  sectors: referenceData('sectors', { delta: false }),
  'shift-definitions': referenceData('shift-definitions', {
    predefined: { '@shift-code': 'code' },
  }),
  'work-interruptions': dated(['people'], { unknownToken: 409 }),
  'work-locations': referenceData('work-locations', { delta: false }),
  'department-histories': history('departments'),
  'employer-histories': history('employers'),
  'job-histories': history('jobs'),
  'job-category-histories': history('job-categories'),
  'sector-histories': history('sectors'),
  'work-location-histories': history('work-locations'),
})

/**
 * Collections that exist as targets of references only: terminals have codes, the others custom
 * references.
 */
export const referenceTargets: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  terminals: { '@external-code': 'externalCode' },
  circles: {},
  groups: {},
}

/** The collections that the objects with an id inside of records belong to, by property. */
export const documentedRelations: Readonly<Record<string, string>> = {
  person: 'people',
  terminal: 'terminals',
  shiftDefinition: 'shift-definitions',
  absenceDefinition: 'absence-definitions',
  resultingAbsenceDefinition: 'absence-definitions',
  requestedAbsenceDefinition: 'absence-definitions',
  reason: 'absence-definitions',
  absenceGroup: 'absence-groups',
  counterDefinition: 'counter-definitions',
  counterDefinitions: 'counter-definitions',
  counterGroup: 'counter-groups',
  breakDefinition: 'break-definitions',
  activityDefinition: 'activity-definitions',
  parent: 'activity-definitions',
  parentContract: 'contracts',
  department: 'departments',
  employer: 'employers',
  job: 'jobs',
  jobCategory: 'job-categories',
  sector: 'sectors',
  workLocation: 'work-locations',
}

function named(table: Record<string, CollectionFacts>): Record<string, CollectionFacts> {
  for (const [name, facts] of Object.entries(table)) {
    if (facts.scopes.length === 0) table[name] = { ...facts, scopes: [name] }
  }
  return table
}

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
