import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../errors.ts'
import { createLineWriter } from '../records/line-writer.ts'
import { createStateKeeper, parseState } from './state.ts'

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
    expect(parseState(text)).toEqual(state)
  })

  it.each(['{', '1', '"text"', '[]', 'true', '{"bookmarks":[]}', '{"bookmarks":"a"}'])(
    'that holds %j is a config error',
    (text) => {
      expect(() => parseState(text)).toThrow(ConnectorError)
    },
  )
})

describe('a state keeper', () => {
  function keeping(input: string) {
    const stream = new PassThrough({ highWaterMark: 1_000_000 })
    const writer = createLineWriter(stream)
    const keeper = createStateKeeper(parseState(input), writer)
    const states = async () => {
      await writer.flush()
      const text = String(stream.read() ?? '')
      return text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).value)
    }
    return { keeper, states }
  }

  it('repeats what it was given before anything else', async () => {
    const input = '{"bookmarks":{"a":{"x":1}},"currently_syncing":null,"other":1}'
    const { keeper, states } = keeping(input)
    void keeper.write()
    expect(await states()).toEqual([JSON.parse(input)])
  })

  it('says all bookmarks each time, those of streams that are not read too', async () => {
    const { keeper, states } = keeping('{"bookmarks":{"a":{"x":1},"b":{"x":2}}}')
    void keeper.keep('b', { x: 3 })
    expect(await states()).toEqual([
      { bookmarks: { a: { x: 1 }, b: { x: 3 } }, currently_syncing: null },
    ])
  })

  it('writes each bookmark that it gets, however large the others are', async () => {
    const { keeper, states } = keeping(
      JSON.stringify({ bookmarks: { a: { x: 'x'.repeat(50_000) } } }),
    )
    void keeper.keep('b', { x: 1 })
    void keeper.keep('b', { x: 2 })
    expect((await states()).map(({ bookmarks }) => bookmarks.b.x)).toEqual([1, 2])
  })

  it('counts the whole line for the cadence', () => {
    const { keeper } = keeping(JSON.stringify({ bookmarks: { a: { x: 'x'.repeat(1000) } } }))
    void keeper.keep('b', {})
    keeper.cadence.wrote(59_000)
    const before = keeper.cadence.isDue()
    keeper.cadence.wrote(10_000)
    expect([before, keeper.cadence.isDue()]).toEqual([false, true])
  })
})
