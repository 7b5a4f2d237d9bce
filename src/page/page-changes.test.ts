import { describe, expect, it } from 'vitest'
import { DELETE, UPSERT } from '../records/record-batch.ts'
import { createPageScanner } from './create-page-scanner.ts'
import { LastingDamageError } from './page-scanner.ts'
import { observe, shape } from './testing/observe.ts'

function read(elements: readonly string[], cuts: readonly number[] = []) {
  const body = Buffer.from(`{"value":[${elements.join(',')}]}`)
  return observe(createPageScanner(shape), body, cuts)
}

describe('a page of changes', () => {
  // spec: Delta mode 4
  it('has the data in envelopes, whatever the order of their members', async () => {
    const { records } = await read([
      '{"changeType":"Delete","data":{"id":1}}',
      '{"data":{"id":2},"changeType":"InsertOrUpdate"}',
      '{"data":{"id":3},"id":4}',
      '{"changeType":"Delete","data":5,"id":6}',
    ])
    expect(records.map(({ text, kind }) => [text, kind])).toEqual([
      ['{"id":1}', DELETE],
      ['{"id":2}', UPSERT],
      ['{"data":{"id":3},"id":4}', UPSERT],
      ['{"changeType":"Delete","data":5,"id":6}', UPSERT],
    ])
  })

  const change = (type: string) => `{"changeType":"${type}","data":{"id":1}}`
  // The second one of a shape is compared with the first.
  const usual = [change('InsertOrUpdate'), change('InsertOrUpdate')]

  it.each([
    ['Delete', DELETE],
    ['DELETE', DELETE],
    ['De\\u006cete', DELETE],
    ['InsertOrUpdate', UPSERT],
    ['insertOrUpdate', UPSERT],
    ['Insert', UPSERT],
    ['Update', UPSERT],
  ])('knows %s', async (type, kind) => {
    const { records } = await read([...usual, change(type)])
    expect(records.map((record) => record.kind)).toEqual([UPSERT, UPSERT, kind])
  })

  it.each(['Remove', 'Deleted', 'Erased', ''])(
    'is refused for %j, which may be a deletion, however it is cut',
    async (type) => {
      const elements = [...usual, change(type)]
      const { length } = JSON.stringify({ value: elements })
      for (let cut = 0; cut < length; cut += 7)
        expect(() => read(elements, [cut])).toThrow(
          new LastingDamageError(
            'element 3 of `value` has a `changeType` that says neither that it was deleted nor that it was inserted or updated',
          ),
        )
    },
  )
})
