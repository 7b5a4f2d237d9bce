import { describe, expect, it } from 'vitest'
import { rewriteRecord } from '../../records/record-rules.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import { airbyteStream, chosenFields, parseConfiguredCatalog } from './configured-catalog.ts'
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
    ['an object of streams, as of old', { a: { x: 1 }, b: null }, { a: { x: 1 }, b: null }],
    ['such an object in a message', [{ type: 'LEGACY', data: { a: {} } }], { a: {} }],
    ['such a message alone', { type: 'LEGACY', data: { a: {} } }, { a: {} }],
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

  it('may contain the lines that read printed', () => {
    const lines = [1, 2].map((x) => JSON.stringify({ type: 'STATE', state: message('a', x) }))
    expect([...parseStateFile(lines.join('\n'), 'x')]).toEqual([['a', 2]])
  })

  it.each<[string, string]>([
    ['{', 'it is not JSON at line 1, column 2'],
    ['1', 'it is not a list'],
    ['[1]', 'one of its entries is not a state message'],
    ['[{"type":"GLOBAL","global":{}}]', 'its global state has no streams'],
    ['[{"type":"STREAM","stream":{}}]', 'one of its entries names no stream'],
    ['{"stateType":"stream","streamState":[]}', 'its member stateType is no state of a stream'],
    ['{"a":[]}', 'its member a is no state of a stream'],
    ['{"bookmarks":{}}', 'a state of tap-x, and source-x cannot continue from it'],
    ['{"singer_state":{"bookmarks":{}}}', 'a state of tap-x'],
  ])('that holds %s is refused', (text, reason) => {
    expect(() => parseStateFile(text, 'x')).toThrow(reason)
  })
})

const spec: StreamSpec = {
  name: 'a',
  schema: { type: 'object', properties: { id: { type: 'integer' } }, examples: [{ id: 1 }] },
  key: ['id', 'part'],
  version: 'v',
}

describe('a stream that is offered', () => {
  const offeredColumns = (stream: StreamSpec) => {
    const { json_schema } = airbyteStream(stream) as { json_schema: { properties: object } }
    return Object.keys(json_schema.properties)
  }

  it('promises nothing that its source does not say', () => {
    expect(airbyteStream(spec)).toEqual({
      name: 'a',
      json_schema: { type: 'object', properties: { id: { type: 'integer' } } },
      supported_sync_modes: ['full_refresh'],
      source_defined_primary_key: [['id'], ['part']],
      is_resumable: false,
    })
    expect(offeredColumns({ ...spec, isIncremental: true })).toEqual(['id', '_ab_cdc_cursor'])
    expect(offeredColumns({ ...spec, hasDeletes: true })).toEqual(['id', '_ab_cdc_deleted_at'])
    expect(offeredColumns({ ...spec, hasGenerations: true })).toEqual(['id', '_generation'])
  })

  it('has the columns of the connector beside its own, and its key and cursor', () => {
    const all = { ...spec, isIncremental: true, hasDeletes: true, hasGenerations: true }
    expect(airbyteStream(all)).toMatchObject({
      name: 'a',
      supported_sync_modes: ['full_refresh', 'incremental'],
      source_defined_primary_key: [['id'], ['part']],
      default_cursor_field: ['_ab_cdc_cursor'],
      is_resumable: true,
    })
    const columns = ['id', '_ab_cdc_deleted_at', '_generation', '_ab_cdc_cursor']
    expect(offeredColumns(all)).toEqual(columns)
  })
})

describe('a configured catalog', () => {
  const entry = (name: string) => ({ stream: { name }, sync_mode: 'full_refresh' })
  const offered = { streams: [{ name: 'a' }, { name: 'b' }] }

  it('names the selected streams, and how they are read', () => {
    expect(parseConfiguredCatalog({ streams: [entry('a')] })).toEqual({
      streams: [{ name: 'a', syncMode: 'full_refresh' }],
      isDiscovered: false,
    })
  })

  it.each([
    ['its generation is the only one', 7, 7, 7],
    ['earlier generations stay beside it', 7, 3, undefined],
    ['the platform removes none', 0, 0, undefined],
    ['the platform knows no generations', undefined, undefined, undefined],
    ['a double does not have all its digits', 2 ** 53, 2 ** 53, undefined],
    ['its generation is a text', '7', '7', undefined],
  ])('numbers a refresh, or does not, where %s', (_, generation_id, minimum, refresh) => {
    const numbered = { ...entry('a'), generation_id, minimum_generation_id: minimum }
    expect(parseConfiguredCatalog({ streams: [numbered] }).streams[0]?.refresh).toBe(refresh)
  })

  it.each([
    ['the catalog alone', offered],
    ['its message', { type: 'CATALOG', catalog: offered }],
    ['its message among others', [{ type: 'LOG' }, { type: 'CATALOG', catalog: offered }]],
  ])('may be the output of discover: %s', (_, input) => {
    expect(parseConfiguredCatalog(input)).toEqual({
      streams: [
        { name: 'a', syncMode: 'incremental' },
        { name: 'b', syncMode: 'incremental' },
      ],
      isDiscovered: true,
    })
  })

  it.each([
    [{ properties: { pin: {} } }, '{"id":1,"v":2,"pin":4}'],
    [{ properties: { name: {}, pin: {} } }, undefined],
    [{}, undefined],
    [undefined, undefined],
  ])('may choose columns, the key and the cursor stay: %j', (json_schema, left) => {
    const [chosen] = parseConfiguredCatalog({
      streams: [{ stream: { name: 'a', json_schema }, sync_mode: 'incremental' }],
    }).streams
    const schema = { properties: { id: {}, v: {}, name: {}, pin: {} } }
    const rules = chosen && chosenFields({ ...spec, schema, key: ['id'] }, chosen)
    const json = '{"id":1,"v":2,"name":3,"pin":4,"new":5}'
    expect(rules && rewriteRecord(Buffer.from(json), rules)).toBe(left)
  })

  it('may select nothing', () => {
    expect(parseConfiguredCatalog({ streams: [] })).toEqual({ streams: [], isDiscovered: false })
  })

  it.each<[unknown, string]>([
    [null, 'it has no list of streams'],
    [{ streams: 'a' }, 'it has no list of streams'],
    [{ streams: [null] }, 'one of its streams has no name'],
    [{ streams: [{ stream: { name: 'a' } }] }, 'its stream a has no sync mode'],
    [{ streams: [entry('a'), entry('b'), entry('a')] }, 'it names a twice'],
  ])('is not %j', (input, reason) => {
    expect(() => parseConfiguredCatalog(input)).toThrow(reason)
  })
})
