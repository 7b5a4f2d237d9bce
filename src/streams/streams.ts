import type { Stream } from './collection.ts'
import { collections } from './collections.ts'

/**
 * Every stream, by its name, in alphabetical order: the collections in snake_case, because some SQL
 * loaders cut a name at its hyphens.
 */
export const streams: ReadonlyMap<string, Stream> = new Map(
  Object.entries(collections).map(([collection, facts]) => {
    const stream = collection.replaceAll('-', '_')
    return [stream, { ...facts, collection, stream }]
  }),
)

/** The columns that tell records of a stream apart. */
export function keyOf(stream: Stream): readonly string[] {
  return stream.key ?? ['id']
}
