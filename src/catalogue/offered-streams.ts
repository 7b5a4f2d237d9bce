import type { Stream } from './collection.ts'
import { streams } from './streams.ts'

/** The streams that a configuration can read: activity definitions only where structures are named. */
export function offeredStreams(config: {
  readonly activityStructures: readonly unknown[]
}): Stream[] {
  return [...streams.values()].filter(
    ({ nested }) => nested !== 'activity_structures' || config.activityStructures.length > 0,
  )
}
