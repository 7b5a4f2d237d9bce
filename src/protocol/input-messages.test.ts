import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { memberText, readMessages } from './input-messages.ts'

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
    ['not JSON', ['{"a":1}\n{"secret', '":oops}\n'], 'is not JSON: see its column 11'],
    ['cut off', ['{"a":1}\n{"a":'], 'is not JSON: see its column 6'],
    ['a list', ['{"a":1}\n[]\n'], 'is not a message: it is no JSON object'],
    ['another encoding', ['{"a":1}\n', Buffer.from([0x22, 0xe9, 0x22, 10])], 'is not UTF-8'],
  ])('end at a line that is %s', async (_what, chunks, reason) => {
    expect(await messagesOf(chunks)).toEqual([[1, { a: 1 }], `Line 2 of the input ${reason}`])
  })

  it('end with what the signal was aborted with, also while nothing comes', async () => {
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
