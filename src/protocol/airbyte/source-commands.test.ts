import { describe, expect, it } from 'vitest'
import { parseStateFile } from './source-commands.ts'

const stream = (name: string, stream_state: unknown) => ({
  stream_descriptor: { name },
  stream_state,
})
const message = (name: string, blob: unknown) => ({ type: 'STREAM', stream: stream(name, blob) })

describe('a state file', () => {
  it.each<[string, unknown, Record<string, unknown>]>([
    ['a list of streams', [message('a', { x: 1 }), message('b', 2)], { a: { x: 1 }, b: 2 }],
    ['a list of nothing', [], {}],
    ['one stream', message('a', 1), { a: 1 }],
    ['an object of streams, as of old', { a: 1, b: 2 }, { a: 1, b: 2 }],
    ['such an object in a message', [{ type: 'LEGACY', data: { a: 1 } }], { a: 1 }],
    [
      'a global state',
      [{ type: 'GLOBAL', global: { stream_states: [stream('a', 1), stream('b', 2)] } }],
      { a: 1, b: 2 },
    ],
    [
      'messages of read, of which the last counts',
      [1, 2].map((x) => ({ type: 'STATE', state: message('a', x) })),
      { a: 2 },
    ],
  ])('may hold %s', (_, input, expected) => {
    expect(Object.fromEntries(parseStateFile(JSON.stringify(input), 'x'))).toEqual(expected)
  })

  it.each(['', ' \n', 'null'])('that holds %j is no state', (text) => {
    expect(parseStateFile(text, 'x').size).toBe(0)
  })

  it('may hold the lines of read as they were printed', () => {
    const lines = [1, 2].map((x) => JSON.stringify({ type: 'STATE', state: message('a', x) }))
    expect([...parseStateFile(lines.join('\n'), 'x')]).toEqual([['a', 2]])
  })

  it.each<[string, string]>([
    ['{', 'it is not JSON at line 1, column 2'],
    ['1', 'it is not a list'],
    ['[1]', 'one of its entries is no state message'],
    ['[{"type":"GLOBAL","global":{}}]', 'its global state has no streams'],
    ['[{"type":"STREAM","stream":{}}]', 'one of its entries names no stream'],
    ['{"bookmarks":{}}', 'a state of tap-x, and source-x cannot continue from it'],
  ])('that holds %s is refused', (text, reason) => {
    expect(() => parseStateFile(text, 'x')).toThrow(reason)
  })
})
