import { rewriteRecord } from '../../records/record-rules.ts'
import type { Stream } from '../../streams/collections.ts'
import { streams } from '../../streams/streams.ts'
import type { FieldRule } from '../field-patterns.ts'
import type { PrivacyMode, PrivacySettings } from '../privacy-settings.ts'
import { redactionOfStream } from '../redaction.ts'

/** A key and a tenant for pseudonyms. */
export const PSEUDONYMS = { key: 'Wq3-xkT9_mB7vZ2p', tenant: 'acme' }

export const rule = (path: string, action: FieldRule['rule'], stream = 'people') => ({
  stream,
  path,
  rule: action,
})

export const stream = (name: string) => streams.get(name) as Stream

export const settings = (
  mode: PrivacyMode,
  more: Partial<PrivacySettings> = {},
): PrivacySettings => ({
  mode,
  pseudonyms: PSEUDONYMS,
  rules: [],
  unknownFields: 'drop',
  ...more,
})

interface Left {
  readonly [name: string]: unknown
  readonly externalReferences?: Readonly<Record<string, unknown>>
}

/** The remaining members of a record of a stream; none if the record is left out. */
export function leftOf(name: string, record: object | string, privacy: PrivacySettings): Left {
  const { rules, rulesOf } = redactionOfStream(stream(name), privacy)
  const said = rulesOf?.(record as Record<'collection' | 'name', string>) ?? rules
  if (said === 'drop') return {}
  const text = typeof record === 'string' ? record : JSON.stringify(record)
  return JSON.parse(said ? rewriteRecord(Buffer.from(text), said) : text) as Left
}
