import { rewriteRecord } from '../records/record-rules.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import type { PrivacySettings } from './privacy-settings.ts'
import { type ReferenceName, redactionOfStream } from './redaction.ts'

/** An external reference as the typed client has it. */
type OneReference = ReferenceName & { readonly value: string }

/**
 * A function that treats single external references like the records of their stream: a value is hashed or left out,
 * and `undefined` stands for a reference that is left out as a whole.
 */
export function referenceTreatment(
  privacy: PrivacySettings,
): <T extends OneReference>(reference: T) => Partial<T> | undefined {
  const { rulesOf } = redactionOfStream(streams.get('external_references') as Stream, privacy)
  return (reference) => {
    const rules = rulesOf?.(reference)
    if (rules === 'drop') return undefined
    const json = JSON.stringify(reference)
    return JSON.parse(rules === undefined ? json : rewriteRecord(Buffer.from(json), rules))
  }
}
