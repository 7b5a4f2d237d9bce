/** Tells whether a version of a record is newer than every other that it was told of. */
export type Newest = (collection: string, id: number | string, changeVersion: string) => boolean

const DEFAULT_CAPACITY = 100_000

/**
 * Remembers the newest `changeVersion` of as many records as `capacity` says, deleted ones like others,
 * and forgets first what it has not been asked about for longest. Versions are compared as text, by code
 * units; an equal one is the same event once more.
 *
 * What it calls newer counts as seen: ask where events are applied, behind the queue. Before the queue
 * the repetition of a delivery that could not be stored would look like a duplicate.
 */
export function createNewest({
  capacity = DEFAULT_CAPACITY,
}: {
  readonly capacity?: number
} = {}): Newest {
  if (!(capacity >= 1)) throw new RangeError('the capacity must be 1 or more')
  const versions = new Map<string, string>()
  return (collection, id, changeVersion) => {
    const record = `${collection} ${id}`
    const held = versions.get(record)
    const isNewer = held === undefined || changeVersion > held
    versions.delete(record)
    versions.set(record, isNewer ? changeVersion : held)
    const [oldest = record] = versions.keys()
    if (versions.size > capacity) versions.delete(oldest)
    return isNewer
  }
}
