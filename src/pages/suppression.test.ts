import { expect, it } from 'vitest'
import { personCodes } from '../privacy/person-codes.ts'
import type { PrivacySettings } from '../privacy/privacy-settings.ts'
import { createJsonBatch } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import { createSuppression } from './suppression.ts'

const ID = '9007199254740993'

it.each([
  `{"id":1,"person":{"id":${ID}}}`,
  `{"id":1,"person":{"id":"${ID}"}}`,
  `{"id":1,"Person":{"ID":${ID}}}`,
  `{"id":1,"person":{"id":7},"PERSON":{"Id":${ID}}}`,
])('a record of a suppressed person is left out, however the service writes it: %s', (json) => {
  const pseudonyms = { key: 'Wq3-xkT9_mB7vZ2p', tenant: 'acme' }
  const { apply } = createSuppression(streams.get('clockings') as Stream, {
    suppressedPeople: [personCodes(pseudonyms).of(ID)],
    privacy: { pseudonyms } as PrivacySettings,
  })
  const other = '{"id":2,"person":{"id":9007199254740992}}'
  const { batch, leftOut } = apply(createJsonBatch([{ json }, { json: other }]))
  expect([batch.count, leftOut?.count]).toEqual([1, 1])
  expect(Buffer.from(batch.record(0)).toString()).toBe(other)
})
