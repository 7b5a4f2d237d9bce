import { describe, expect, it } from 'vitest'
import { parseEvent } from './parse-event.ts'

const event = (body: string) => parseEvent('clockings', Buffer.from(body))

describe('the event of a delivery', () => {
  // spec: Events 1
  // spec: Events 7
  it('is read from the record', () => {
    const body = '{"changeVersion":"00A","id":4712,"hours":7.10}'
    const { body: bytes, ...rest } = event(body)
    expect(bytes.toString()).toBe(body)
    expect(rest).toEqual({
      collection: 'clockings',
      id: 4712,
      changeVersion: '00A',
      deleted: undefined,
      data: { changeVersion: '00A', id: 4712, hours: 7.1 },
    })
  })

  // spec: Events 8
  it('is read from the form of a delta, in any order of its members', () => {
    expect(event('{"data":{"id":7,"changeVersion":"00B"},"changeType":"Delete"}')).toMatchObject({
      id: 7,
      changeVersion: '00B',
      deleted: true,
      data: { id: 7 },
    })
  })

  it('is read from a record that has a changeType of its own', () => {
    const { id, deleted } = event('{"id":7,"changeVersion":"00B","changeType":"Delete"}')
    expect([id, deleted]).toEqual([7, undefined])
  })

  it.each([
    ['{"changeType":"InsertOrUpdate","data":{"id":1}}', false],
    ['{"changeType":"InsertOrUpdate","data":{"id":1,"status":"Deleted"}}', true],
    ['{"changeType":"Merge","data":{"id":1}}', undefined],
    ['{"changeType":"Delete"}', true],
    ['{"id":1,"status":"Deleted"}', true],
    ['{"id":1,"status":"Approved"}', undefined],
  ])('%s tells of a deletion: %s', (body, deleted) => {
    expect(event(body).deleted).toBe(deleted)
  })

  it.each([
    ['{"id":9007199254740993}', '9007199254740993'],
    [
      '{"f":0.12345678901234567,"t":"\\"9007199254740993","id":-123456789012345678901}',
      '-123456789012345678901',
    ],
    ['{"id":9007199254740991}', 9007199254740991],
    ['{"id":"5f0c-guid"}', '5f0c-guid'],
  ])('%s keeps all digits of its id', (body, id) => {
    expect(event(body).id).toBe(id)
  })

  it.each(['{}', '[]', 'null', '{"id":null,"changeVersion":3}'])(
    '%s has neither id nor version',
    (body) => {
      const { id, changeVersion } = event(body)
      expect([id, changeVersion]).toEqual([undefined, undefined])
    },
  )

  it('may begin with a byte order mark', () => {
    expect(event('\uFEFF{"id":1}').id).toBe(1)
  })

  it('is none of what is not JSON, of which nothing is repeated', () => {
    expect(() => event('{"secret"')).toThrow(/^the body of the delivery is not JSON$/)
  })
})
