import type { Stream } from './collection.ts'
import { readStreamSchema, type StreamSchema } from './stream-schema.ts'
import { keyOf } from './streams.ts'

/** What a catalog of either protocol tells of a stream. */
export interface StreamSpec {
  readonly name: string
  readonly schema: StreamSchema
  readonly key: readonly string[]
  /** The member that orders the versions of a record, if the service sends one. */
  readonly version: string | undefined
  /** How its changes come: by the service's log of changes, or by listing it whole. */
  readonly replication: 'LOG_BASED' | 'FULL_TABLE'
}

export function streamSpec(stream: Stream): StreamSpec {
  return {
    name: stream.stream,
    schema: readStreamSchema(stream.stream),
    key: keyOf(stream),
    version: versionOf(stream),
    replication: stream.replication === 'delta' ? 'LOG_BASED' : 'FULL_TABLE',
  }
}

/** The member whose string orders the versions of a record. */
export function versionOf({ versioned }: Stream): string | undefined {
  return versioned === false ? undefined : 'changeVersion'
}
