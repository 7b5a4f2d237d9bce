import type { StreamSpec } from '../protocol/stream-spec.ts'
import type { Stream } from '../streams/collection.ts'
import { streamSpec } from '../streams/streams.ts'
import type { PrivacySettings } from './privacy-settings.ts'
import { type Treatment, treatmentOf } from './treatment.ts'

/** The treatment of a stream's records; `onUnknown` is told of fields that are left out unknown. */
export function treatmentOfStream(
  stream: Stream,
  privacy: PrivacySettings,
  onUnknown?: (name: string) => void,
): Treatment {
  const { schema, key, version } = streamSpec(stream)
  const columns = version === undefined ? key : [...key, version]
  // An external reference gets its key from the record as it is left, so that a hash may be part of it.
  const fixed = stream.key === undefined ? columns : columns.filter((column) => column !== 'value')
  return treatmentOf(schema, { ...privacy, stream: stream.stream, fixed, onUnknown })
}

/** What the catalogs tell of a stream that is treated. */
export function treatedSpec(stream: Stream, privacy: PrivacySettings): StreamSpec {
  let treatment: Treatment | undefined
  const treated = () => {
    treatment ??= treatmentOfStream(stream, privacy)
    return treatment
  }
  return {
    ...streamSpec(stream),
    get schema() {
      return treated().schema
    },
    get leftOut() {
      return [...treated().outcomes].flatMap(([path, outcome]) =>
        outcome === 'drop' ? [path] : [],
      )
    },
  }
}

/** Whether records of a stream still have a key; without one the stream is not offered. */
export function keepsKey(stream: Stream, privacy: PrivacySettings): boolean {
  if (stream.key === undefined) return true
  const { outcomes } = treatmentOfStream(stream, privacy)
  return stream.key.every((column) => ['keep', 'hash', undefined].includes(outcomes.get(column)))
}
