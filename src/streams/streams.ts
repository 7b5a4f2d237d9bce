import { readProjectJson } from '../ground/project-files.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import { collections, type Stream } from './collections.ts'

/** The streams of all collections by name, in alphabetical order. A name is that of the collection in snake_case. */
export const streams: ReadonlyMap<string, Stream> = new Map(
  Object.entries(collections).map(([collection, facts]) => {
    const stream = collection.replaceAll('-', '_')
    return [stream, { ...facts, collection, stream }]
  }),
)

/** The stream that describes what the tables of the other streams must contain. The sync itself creates its records. */
export const INVENTORY: Stream = {
  collection: 'inventory',
  stream: 'inventory',
  description: 'What the tables of the other streams must contain after a sync.',
  replication: 'list',
  key: ['stream', 'part'],
  versioned: false,
  single: false,
}

/** The primary key of a stream. */
export function keyOf(stream: Stream): readonly string[] {
  return stream.key ?? ['id']
}

/** The scopes that allow reading a collection, such as `people.read`, the preferred one first. */
export function readScopes({
  scopes,
  collection,
}: Pick<Stream, 'scopes' | 'collection'>): readonly [string, ...string[]] {
  const [preferred = collection, ...others] = scopes ?? []
  return [`${preferred}.read`, ...others.map((name) => `${name}.read`)]
}

/** The streams that a configuration can read; activity definitions only if it names structures. */
export function availableStreams(config: {
  readonly activityStructures: readonly unknown[]
}): ReadonlyMap<string, Stream> {
  return new Map(
    [...streams].filter(
      ([, { nested }]) => nested !== 'activity_structures' || config.activityStructures.length > 0,
    ),
  )
}

/** The entry of a stream in the catalogs; its schema is read only when it is needed. */
export function streamSpec(stream: Stream): StreamSpec {
  return {
    name: stream.stream,
    get schema() {
      return readStreamSchema(stream.stream)
    },
    key: keyOf(stream),
    version: stream.versioned === false ? undefined : 'changeVersion',
    // Whole lists are compared with the ids in the state, so every stream is incremental.
    isIncremental: true,
    hasDeletes: true,
    hasGenerations: true,
    isOfSync: stream === INVENTORY,
    replication: stream.replication === 'delta' ? 'LOG_BASED' : 'FULL_TABLE',
  }
}

/** Reads the schema of a stream's records as the service sends them, from `schemas/<stream>.json`. */
export function readStreamSchema(stream: string): StreamSchema {
  return readProjectJson(`#schemas/${stream}`) as StreamSchema
}

interface StreamSchema extends JsonSchema {
  readonly properties: NonNullable<JsonSchema['properties']>
}

/** The days after those of lists on which rows are looked for: a delta reports changes of all later days. */
export const DAYS_BEYOND = 3653
