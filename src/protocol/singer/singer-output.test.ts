import { Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../ground/errors.ts'
import type { StreamSpec } from '../../records/stream-spec.ts'
import { createLineWriter } from '../line-writer.ts'
import { parseCatalog, singerStream } from './catalog.ts'
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
    ['{"singer_state":{"bookmarks":{"a":1}}}', { bookmarks: { a: 1 }, currently_syncing: null }],
    ['{"currently_syncing":"a"}', EMPTY],
    ['{"bookmarks":{},"other":[1]}', { ...EMPTY, other: [1] }],
  ])('that holds %j is understood', (text, state) => {
    expect(parseState(text, 'x')).toEqual(state)
  })

  it.each([
    ...['{', '1', '"text"', '[]', 'true', '{"bookmarks":[]}', '{"bookmarks":"a"}'],
    // Bookmarks in a form that is not understood are not a first run.
    ...['{"a":{"x":1}}', '{"completed":{"singer_state":{"bookmarks":{}}},"partial_state":{}}'],
    ...['{"value":{"bookmarks":{}}}', '{"singer_state":{"a":{"x":1}}}'],
  ])('that holds %j is a config error', (text) => {
    expect(() => parseState(text, 'x')).toThrow(ConnectorError)
  })
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

  it('first repeats the state that it was given', async () => {
    const input = '{"bookmarks":{"a":{"x":1}},"currently_syncing":null,"other":1}'
    const { states, written } = writing(input)
    void states.write()
    expect(await written()).toEqual([JSON.parse(input)])
  })

  it('writes all bookmarks each time, including those of streams that are not read', () => {
    const { states } = writing('{"bookmarks":{"a":{"x":1},"b":{"x":2}}}')
    expect(JSON.parse(states.line('b', { x: 3 })).value).toEqual({
      bookmarks: { a: { x: 1 }, b: { x: 3 } },
      currently_syncing: null,
    })
  })

  it('gets the bookmark of every stream with records since its last STATE', () => {
    const { states } = writing('{"bookmarks":{"a":{"x":1}}}')
    states.add('a', () => ({ x: 2 }))
    states.add('b', () => undefined)
    expect(JSON.parse(states.line('c', { x: 3 })).value.bookmarks).toEqual({
      a: { x: 2 },
      c: { x: 3 },
    })
  })

  it('counts the whole line as the size of a STATE', () => {
    const { states } = writing(JSON.stringify({ bookmarks: { a: { x: 'x'.repeat(1_200_000) } } }))
    states.line('b', {})
    const before = states.allows()
    states.onRecords(4_000_000_000)
    expect([before, states.allows()]).toEqual([false, true])
  })
})

type Marks = readonly (readonly [breadcrumb: readonly string[], metadata: object])[]

/** Whether a field of a stream with this metadata is selected. */
function isChosen(breadcrumb: readonly string[], marks: Marks): boolean | undefined {
  const metadata = marks.map(([breadcrumb, metadata]) => ({ breadcrumb, metadata }))
  const [stream] = parseCatalog({ streams: [{ tap_stream_id: 'people', metadata }] })
  return stream?.isSelected(breadcrumb)
}

const NAME = ['properties', 'name']
const DEEP = [...NAME, 'properties', 'default']

describe('a stream of a catalog', () => {
  it.each([
    ['nothing', {}, true],
    ['selected', { selected: true }, true],
    ['selected as text', { selected: 'true' }, true],
    ['deselected', { selected: false }, false],
    ['deselected as text', { selected: 'false' }, false],
    ['not by default', { 'selected-by-default': false }, false],
    ['not by default but selected', { 'selected-by-default': false, selected: true }, true],
    ['unsupported', { inclusion: 'unsupported', selected: true }, false],
    ['automatic', { inclusion: 'automatic', selected: false }, true],
    ['null for selected', { selected: null }, true],
  ])('that is marked with %s is read or not', (_name, metadata, isRead) => {
    const streams = [{ tap_stream_id: 'people', metadata: [{ breadcrumb: [], metadata }] }]
    expect(parseCatalog({ streams })).toHaveLength(isRead ? 1 : 0)
  })

  it('without metadata is read completely', () => {
    const [stream] = parseCatalog({ streams: [{ stream: 'people' }] })
    expect([stream?.name, stream?.isSelected(NAME)]).toEqual(['people', true])
  })

  it('that is selected twice is a config error: both readers would end the delta of the other', () => {
    const entry = { tap_stream_id: 'people', metadata: [] }
    const deselected = {
      stream: 'people',
      metadata: [{ breadcrumb: [], metadata: { selected: false } }],
    }
    expect(() => parseCatalog({ streams: [entry, entry] })).toThrow(/it selects people twice/)
    expect(parseCatalog({ streams: [deselected, entry] })).toHaveLength(1)
  })

  it('with damaged metadata is read by the valid part of it', () => {
    const metadata = [null, { breadcrumb: NAME }, { breadcrumb: DEEP, metadata: null }]
    const [stream] = parseCatalog({ streams: [{ tap_stream_id: 'people', metadata }] })
    expect(stream?.isSelected(DEEP)).toBe(true)
  })

  it.each([undefined, null, [], {}, { streams: {} }, { streams: [{}] }, { streams: [null] }])(
    'is a config error in %j',
    (input) => {
      expect(() => parseCatalog(input)).toThrow(ConnectorError)
    },
  )
})

describe('a field', () => {
  it('is left out with its parent, even if it is selected or automatic', () => {
    const marks: Marks = [
      [NAME, { selected: false }],
      [DEEP, { inclusion: 'automatic', selected: true }],
    ]
    expect(isChosen(DEEP, marks)).toBe(false)
  })

  it('can be left out alone', () => {
    expect([
      isChosen(NAME, [[DEEP, { selected: false }]]),
      isChosen(DEEP, [[DEEP, { selected: false }]]),
    ]).toEqual([true, false])
  })

  it('inside of an array is selected with the array', () => {
    const inList = ['properties', 'lines', 'items', 'properties', 'id']
    expect(isChosen(inList, [[['properties', 'lines'], { selected: false }]])).toBe(false)
  })
})

describe('a stream as --discover offers it', () => {
  const facts: StreamSpec = {
    name: 'people',
    key: ['id'],
    version: 'changeVersion',
    isIncremental: true,
    hasDeletes: true,
    hasGenerations: true,
    schema: {
      $schema: 'draft',
      examples: [{}],
      type: 'object',
      properties: {
        id: {},
        changeVersion: {},
        name: { properties: { default: {} } },
        lines: { items: { properties: { id: {} } } },
      },
    },
  }
  const entry = singerStream(facts) as {
    schema: object
    metadata: { breadcrumb: string[]; metadata: Record<string, unknown> }[]
  }
  const inclusionOf = (path: string) =>
    entry.metadata.find(({ breadcrumb }) => breadcrumb.join('.') === path)?.metadata['inclusion']

  it('is never read without its key, its version and the columns of the tap', () => {
    const names = ['id', 'changeVersion', '_sdc_deleted_at', '_generation', '_ab_cdc_cursor']
    expect(names.map((name) => inclusionOf(`properties.${name}`))).toEqual(
      Array(5).fill('automatic'),
    )
  })

  it('offers every other field, but members of an array only with the array', () => {
    expect(inclusionOf('properties.name.properties.default')).toBe('available')
    expect(inclusionOf('properties.lines')).toBe('available')
    expect(inclusionOf('properties.lines.items.properties.id')).toBe('automatic')
  })

  it('has a plain schema, without examples', () => {
    expect(Object.keys(entry.schema)).toEqual(['type', 'properties'])
  })

  it('states that its numbers do not fit into 32 bits', () => {
    const { properties } = entry.schema as { properties: Record<string, { maximum?: number }> }
    for (const name of ['_generation', '_ab_cdc_cursor'])
      expect(properties[name]?.maximum).toBeGreaterThan(2 ** 31)
  })

  it('is replicated as its source says', () => {
    const methodOf = (spec: StreamSpec) => {
      const { replication_method, replication_key } = singerStream(spec) as Record<string, string>
      return [replication_method, replication_key]
    }
    expect(methodOf(facts)).toEqual(['INCREMENTAL', '_ab_cdc_cursor'])
    expect(methodOf({ ...facts, replication: 'FULL_TABLE' })).toEqual(['FULL_TABLE', undefined])
    expect(methodOf({ ...facts, isIncremental: false })).toEqual(['FULL_TABLE', undefined])
  })

  it('is selected completely if it is not edited', () => {
    const [stream] = parseCatalog({ streams: [entry] })
    expect(entry.metadata.every(({ breadcrumb }) => stream?.isSelected(breadcrumb))).toBe(true)
  })
})
