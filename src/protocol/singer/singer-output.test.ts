import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import { createLineWriter } from '../line-writer.ts'
import { createStateWriter, parseState } from './singer-output.ts'

const EMPTY = { bookmarks: {}, currently_syncing: null }

describe('a state file', () => {
  it.each([
    ['', EMPTY],
    [' \n', EMPTY],
    ['null', EMPTY],
    ['{}', EMPTY],
    ['{"bookmarks":null}', EMPTY],
    ['{"bookmarks":{"a":{"x":1}}}', { bookmarks: { a: { x: 1 } }, currently_syncing: null }],
    ['{"bookmarks":{},"currently_syncing":"a"}', EMPTY],
    [
      '{"type":"STATE","value":{"bookmarks":{"a":1}}}',
      { bookmarks: { a: 1 }, currently_syncing: null },
    ],
    ['{"bookmarks":{},"other":[1]}', { ...EMPTY, other: [1] }],
  ])('that holds %j is understood', (text, state) => {
    expect(parseState(text, 'x')).toEqual(state)
  })

  it.each(['{', '1', '"text"', '[]', 'true', '{"bookmarks":[]}', '{"bookmarks":"a"}'])(
    'that holds %j is a config error',
    (text) => {
      expect(() => parseState(text, 'x')).toThrow(ConnectorError)
    },
  )
})

describe('a state writer', () => {
  function writing(input: string) {
    const chunks: Buffer[] = []
    const stream = new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk)
        done()
      },
    })
    const writer = createLineWriter(stream)
    const states = createStateWriter(parseState(input, 'x'), writer)
    const written = async () => {
      await writer.flush()
      return String(Buffer.concat(chunks))
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).value)
    }
    return { states, written }
  }

  it('repeats what it was given before anything else', async () => {
    const input = '{"bookmarks":{"a":{"x":1}},"currently_syncing":null,"other":1}'
    const { states, written } = writing(input)
    void states.write()
    expect(await written()).toEqual([JSON.parse(input)])
  })

  it('says all bookmarks each time, those of streams that are not read too', () => {
    const { states } = writing('{"bookmarks":{"a":{"x":1},"b":{"x":2}}}')
    expect(JSON.parse(states.line('b', { x: 3 })).value).toEqual({
      bookmarks: { a: { x: 1 }, b: { x: 3 } },
      currently_syncing: null,
    })
  })

  it('asks every stream with records since its last STATE for its bookmark', () => {
    const { states } = writing('{"bookmarks":{"a":{"x":1}}}')
    states.add('a', () => ({ x: 2 }))
    states.add('b', () => undefined)
    expect(JSON.parse(states.line('c', { x: 3 })).value.bookmarks).toEqual({
      a: { x: 2 },
      c: { x: 3 },
    })
  })

  it('takes the size of the whole line for that of a STATE', () => {
    const { states } = writing(JSON.stringify({ bookmarks: { a: { x: 'x'.repeat(900_000) } } }))
    states.line('b', {})
    const before = states.allows()
    states.onRecords(100_000_000)
    expect([before, states.allows()]).toEqual([false, true])
  })
})
