import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { memberText, readMessages } from './input-messages.ts'
import { createStateBudget } from './state.ts'
import { deletionOf } from './sync-columns.ts'

/** All messages of an input, or the error that ends it. */
async function messagesOf(chunks: readonly (string | Buffer)[]): Promise<unknown[]> {
  const input = readMessages(Readable.from(chunks), new AbortController().signal)
  const values: unknown[] = []
  try {
    for (let one = await input.next(); one !== undefined; one = await input.next())
      values.push([one.line, one.value])
  } catch (error) {
    values.push((error as Error).message.split('. ')[0])
  }
  return values
}

describe('the messages of an input', () => {
  it('are its lines, wherever the pipe cuts them', async () => {
    const text = Buffer.from('{"name":"Zoë \u2028"}\r\n\n{"n":2}')
    const bytes = [...text].map((byte) => Buffer.from([byte]))
    const expected = [
      [1, { name: 'Zoë \u2028' }],
      [3, { n: 2 }],
    ]
    expect([await messagesOf(bytes), await messagesOf([text])]).toEqual([expected, expected])
  })

  it.each<[string, (string | Buffer)[], string]>([
    ['not JSON', ['{"a":1}\n{"secret', '":oops}\n'], 'is not JSON at column 11'],
    ['cut off', ['{"a":1}\n{"a":'], 'is not JSON at column 6'],
    ['a list', ['{"a":1}\n[]\n'], 'is not a message: it is no JSON object'],
    ['another encoding', ['{"a":1}\n', Buffer.from([0x22, 0xe9, 0x22, 10])], 'is not UTF-8'],
  ])('end at a line that is %s', async (_what, chunks, reason) => {
    expect(await messagesOf(chunks)).toEqual([[1, { a: 1 }], `Line 2 of the input ${reason}`])
  })

  it('keep all digits of their numbers, which a person could not correct otherwise', async () => {
    const text = '{"value":12345678901234567890,"id":4.0000000000000000001,"n":2}'
    const value = { value: '12345678901234567890', id: '4.0000000000000000001', n: 2 }
    expect(await messagesOf([text])).toEqual([[1, value]])
  })

  it('end with the reason of the abort, also while no input comes', async () => {
    const stop = new AbortController()
    const silent = new Readable({ read() {} })
    const next = readMessages(silent, stop.signal).next()
    stop.abort(new Error('stopped'))
    await expect(next).rejects.toThrow('stopped')
    expect(silent.destroyed).toBe(true)
  })
})

it.each<[string, string | undefined]>([
  ['{"type":"STATE","value":{"at":12345678901234567890}}', '{"at":12345678901234567890}'],
  ['{"value": 1.0 , "other":{"value":2}}', '1.0'],
  ['{"other":{"value":2},"list":[{"value":3}]}', undefined],
  ['{"value":"a \\"quoted\\" {text}, with \\\\"}', '"a \\"quoted\\" {text}, with \\\\"'],
  ['{"v\\u0061lue":[1,[2,{}]],"x":1}', '[1,[2,{}]]'],
  ['{"value":1,"value":2}', '2'],
  ['{"x":"value"}', undefined],
  ['{}', undefined],
])('the text of the member "value" of %s is %s', (json, text) => {
  expect(memberText(json, 'value')).toBe(text)
})

const MARKS = ['_ab_cdc_deleted_at', '_SDC_DELETED_AT', '_deleted']

describe.each(MARKS)('a record with %s', (mark) => {
  it.each([null, '', false, 'false', 'FALSE', 'f', 0, '0'])('of %j is not deleted', (value) => {
    expect(deletionOf({ [mark]: value })).toEqual({ isDeleted: false })
  })

  it.each([
    true,
    'true',
    'True',
    't',
    1,
    '1',
    '2026-01-01',
    '2026-01-01T00:00:00Z',
    '2026-01-01 10:00:00.123456+00',
    '2026-01-01 10:00:00 UTC',
    1_790_000_000,
    1_790_000_000_123,
    '1790000000123456',
  ])('of %j is gone', (value) => {
    expect(deletionOf({ [mark]: value })).toEqual({ isDeleted: true })
  })

  it.each(['no', 'yes', '2', ' ', 2, -1, 0.5, [], {}, '01/02/2026', 'null'])(
    'of %j says neither',
    (value) => {
      expect(deletionOf({ [mark]: value })).toEqual({
        fault: expect.stringMatching(`^The ${mark} is neither true nor false nor a time`),
      })
    },
  )
})

it('a record without a mark is not deleted, whatever else it contains', () => {
  expect(deletionOf({ deleted: true, _deleted_by: 'x', status: 'Deleted' })).toEqual({
    isDeleted: false,
  })
})

it('one mark is enough: a log of changes sends the columns of a row as they were', () => {
  expect(deletionOf({ _sdc_deleted_at: '2026-01-01T00:00:00Z', _deleted: false })).toEqual({
    isDeleted: true,
  })
})

const PAGE = 300_000
const MEGABYTE = 1_000_000

describe('the budget of STATEs', () => {
  it('allows one after each page of a small sync, however small the pages are', () => {
    const budget = createStateBudget(() => 0)
    let refused = 0
    for (let page = 0; page < 500; page++) {
      budget.onRecords(100)
      if (!budget.allows()) refused++
      budget.onState(2000)
    }
    expect(refused).toBe(0)
  })

  it('keeps STATEs below a 2400th of the records and a fixed part, however they grow', () => {
    const budget = createStateBudget(() => 0)
    let records = 0
    let states = 0
    for (let page = 0; page < 5000; page++) {
      budget.onRecords(PAGE)
      records += PAGE
      if (!budget.allows()) continue
      const size = 700 + records * 0.0003
      budget.onState(size)
      states += size
    }
    expect(states).toBeGreaterThan(MEGABYTE)
    expect(states).toBeLessThan(records / 2400 + 1024 ** 2 + MEGABYTE)
  })

  it('allows one after a minute, whatever its size', () => {
    let now = 0
    const budget = createStateBudget(() => now)
    budget.onState(3 * MEGABYTE)
    now = 59_999
    expect(budget.allows()).toBe(false)
    now = 60_000
    expect(budget.allows()).toBe(true)
  })
})
