import { ConnectorError } from '../errors.ts'
import type { Stream } from './collection.ts'
import { streams } from './streams.ts'

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

/** The failure of a stream that a catalog asks for and that is not offered. */
export function unknownStream(): ConnectorError {
  return new ConnectorError(
    'config',
    'There is no stream of this name. Discover the streams again; for activity_definitions, name activity structures in the configuration.',
  )
}
