import type { Config } from '../config/config.ts'
import { type Day, type DayRange, windows } from '../ground/days.ts'
import { dateRange, type Endpoints, requestUrl } from '../http/endpoints.ts'
import { referencedCollections, type Stream } from '../streams/collections.ts'

/** One of several lists that together cover the stream; they are read one after another. */
export interface Slice {
  /**
   * Identifies the slice in the state. It contains all of its parameters, because another configuration may result in
   * other slices.
   */
  readonly key: string
  readonly link: string
}

/** The lists that cover a stream: a single one, one per window of days, or one per nested path. */
export function slicesOf(
  stream: Stream,
  range: DayRange | undefined,
  config: Config,
  endpoints: Endpoints,
): Slice[] {
  const references = referencePairs(stream, config)
  const path = `/${stream.collection}`
  if (stream.nested === 'activity_structures') {
    return config.activityStructures.map(({ structure_version_id: version, level }) => ({
      key: `${version}/${level}`,
      link: requestUrl(
        { path: `/activity-structure-versions/${version}/levels/${level}${path}`, references },
        endpoints,
      ),
    }))
  }
  if (stream.nested === 'referenced_collections') {
    return referencedCollections.map((collection) => ({
      key: collection,
      link: requestUrl({ path: `${path}/${collection}` }, endpoints),
    }))
  }
  if (range === undefined) return [{ key: '', link: requestUrl({ path, references }, endpoints) }]
  return windows(range, config.windowDays).map(({ from, until }) => ({
    key: `${from}/${until}`,
    link: requestUrl({ path, filter: dateRange(from, until), references }, endpoints),
  }))
}

/** The link that starts a delta, with a first day if the stream has dates. */
export function deltaStart(
  stream: Stream,
  window: Day | null,
  config: Config,
  endpoints: Endpoints,
): string {
  return requestUrl(
    {
      path: `/${stream.collection}`,
      filter: window === null ? [] : dateRange(window),
      references: referencePairs(stream, config),
      delta: true,
    },
    endpoints,
  )
}

/** The configured references that the collection of this stream supports. */
export function referencePairs(stream: Stream, config: Config): (readonly [string, string])[] {
  return config.externalReferences
    .filter(({ collection }) => stream.references?.includes(collection))
    .flatMap(({ collection, names }) => names.map((name) => [collection, name] as const))
}
