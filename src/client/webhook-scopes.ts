import { readScopes, streams } from '../streams/streams.ts'

/** What is needed to create webhooks of these collections: the events are what reading gives. */
export function webhookScopes(collections: readonly string[]): readonly string[] {
  const byName = new Map([...streams.values()].map((stream) => [stream.collection, stream]))
  const read = collections.map(
    (collection) => readScopes(byName.get(collection) ?? { collection })[0],
  )
  return ['webhooks.write', ...new Set(read)]
}
