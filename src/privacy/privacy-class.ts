import type { JsonSchema } from '../protocol/stream-spec.ts'

/**
 * What a field tells of a person, `x-privacy` in its schema. `none`: nothing. `personal`: something of
 * somebody who is known by an id only. `identifying`: who it is; names, home addresses, numbers, and free
 * text, which can name people. `sensitive`: health, location, pay, origin, family. `secret`: what lets
 * somebody act in another's name.
 */
export type PrivacyClass = 'none' | 'personal' | 'identifying' | 'sensitive' | 'secret'

/** The class of a field; `personal` for one that the service adds to a record without telling. */
export function privacyClassOf(field: JsonSchema): PrivacyClass {
  return (field['x-privacy'] as PrivacyClass | undefined) ?? 'personal'
}
