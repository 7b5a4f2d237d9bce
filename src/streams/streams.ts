import { readProjectJson } from '../ground/project-files.ts'
import type { JsonSchema, StreamSpec } from '../records/stream-spec.ts'
import { collections, type Stream } from './collections.ts'

/** Every stream, by its name, in alphabetical order: the collections in snake_case. */
export const streams: ReadonlyMap<string, Stream> = new Map(
  Object.entries(collections).map(([collection, facts]) => {
    const stream = collection.replaceAll('-', '_')
    return [stream, { ...facts, collection, stream }]
  }),
)

/** What the tables of the other streams must hold: made by a sync, of no collection of the service. */
export const INVENTORY: Stream = {
  collection: 'inventory',
  stream: 'inventory',
  description: 'What the tables of the other streams must contain after a sync.',
  replication: 'list',
  key: ['stream', 'part'],
  versioned: false,
  single: false,
}

/** The columns that tell records of a stream apart. */
export function keyOf(stream: Stream): readonly string[] {
  return stream.key ?? ['id']
}

/** The scopes that allow reading a collection, the preferred one first: `people.read`. */
export function readScopes({
  scopes,
  collection,
}: Pick<Stream, 'scopes' | 'collection'>): readonly [string, ...string[]] {
  const [preferred = collection, ...others] = scopes ?? []
  return [`${preferred}.read`, ...others.map((name) => `${name}.read`)]
}

/** The streams that a configuration can read: activity definitions only where structures are named. */
export function availableStreams(config: {
  readonly activityStructures: readonly unknown[]
}): ReadonlyMap<string, Stream> {
  return new Map(
    [...streams].filter(
      ([, { nested }]) => nested !== 'activity_structures' || config.activityStructures.length > 0,
    ),
  )
}

/** What the catalogs tell of a stream; its schema is read when it is asked for. */
export function streamSpec(stream: Stream): StreamSpec {
  return {
    name: stream.stream,
    get schema() {
      return readStreamSchema(stream.stream)
    },
    key: keyOf(stream),
    version: stream.versioned === false ? undefined : 'changeVersion',
    // A list that is read whole is compared with the ids in the state: every stream is incremental.
    isIncremental: true,
    hasDeletes: true,
    hasGenerations: true,
    replication: stream.replication === 'delta' ? 'LOG_BASED' : 'FULL_TABLE',
  }
}

/** The schema of a stream's records as the service sends them: `schemas/<stream>.json`. */
export function readStreamSchema(stream: string): StreamSchema {
  return readProjectJson(`#schemas/${stream}`) as StreamSchema
}

interface StreamSchema extends JsonSchema {
  readonly properties: NonNullable<JsonSchema['properties']>
}
