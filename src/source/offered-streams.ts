import type { Config } from '../config/config.ts'
import type { PrivacySettings } from '../privacy/privacy-settings.ts'
import { keepsKey } from '../privacy/treated-stream.ts'
import type { Stream } from '../streams/collection.ts'
import { availableStreams } from '../streams/streams.ts'

/** Without a configuration nothing is known to be left out. */
export const COMPLETE: PrivacySettings = {
  mode: 'complete',
  key: undefined,
  rules: [],
  unknownFields: 'keep',
}

/** The streams that a configuration can read; without one, what every configuration can read. */
export function offeredStreams(config?: Config): ReadonlyMap<string, Stream> {
  const { activityStructures, privacy } = config ?? { activityStructures: [], privacy: COMPLETE }
  const available = availableStreams({ activityStructures })
  return new Map([...available].filter(([, stream]) => keepsKey(stream, privacy)))
}
