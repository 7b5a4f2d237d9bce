import { PassThrough } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../../src/ground/errors.ts'
import { protocolFaults } from '../../src/protocol/acceptance/airbyte-faults.ts'
import type { Message } from '../../src/protocol/acceptance/messages.ts'
import { runAirbyteDestination } from '../../src/protocol/airbyte/entrypoint.ts'
import { runSingerTarget } from '../../src/protocol/singer/target.ts'
import { createCollector } from '../testing/output.ts'
import { parseLines } from '../testing/run.ts'
import {
  createShelf,
  type Given,
  runShelf,
  type Shelf,
  type ShelfConfig,
} from '../testing/shelf.ts'

const emitted_at = 1

describe('a destination of another kind, over the Airbyte protocol', () => {
  interface Configured {
    readonly name: string
    readonly sync_mode?: string
    readonly [member: string]: unknown
  }

  const book = (isbn: unknown, more: object = {}) => ({
    type: 'RECORD',
    record: { stream: 'books', emitted_at, data: { isbn, title: 'A title', ...more } },
  })
  const journal = (id: unknown) => ({
    type: 'RECORD',
    record: { stream: 'journals', emitted_at, data: { id } },
  })
  const state = (name: string, at: unknown) => ({
    type: 'STATE',
    state: {
      type: 'STREAM',
      stream: { stream_descriptor: { name }, stream_state: { at } },
      sourceStats: { recordCount: 1 },
    },
  })
  const status = (name: string, value: string) => ({
    type: 'TRACE',
    trace: {
      type: 'STREAM_STATUS',
      emitted_at,
      stream_status: { stream_descriptor: { name }, status: value },
    },
  })

  async function airbyte(words: readonly (string | object)[], shelf = createShelf(), given = {}) {
    const ended = await runShelf(runAirbyteDestination, shelf, { words, ...given })
    const messages = parseLines<Message & { readonly destination_catalog?: unknown }>(ended.stdout)
    expect(messages.map(protocolFaults).filter(Boolean)).toEqual([])
    expect(ended.stderr).toBe('')
    return {
      ...ended,
      messages,
      states: messages.flatMap(({ state }) => (state === undefined ? [] : [state])),
      logs: messages.flatMap(({ log }) =>
        log === undefined ? [] : [`${log.level} ${log.message}`],
      ),
      errors: messages.flatMap(({ trace }) => (trace?.error ? [trace.error.message] : [])),
    }
  }

  function write(
    streams: readonly Configured[],
    input: Given['input'],
    {
      shelf = createShelf(),
      config = {},
      ...given
    }: Partial<Given> & {
      readonly shelf?: Shelf
      readonly config?: ShelfConfig
    } = {},
  ) {
    const catalog = {
      streams: streams.map(({ name, ...more }) => ({
        stream: { name, json_schema: {}, supported_sync_modes: ['incremental'] },
        sync_mode: 'incremental',
        destination_sync_mode: 'append',
        ...more,
      })),
    }
    const words = ['write', '--config', config, '--catalog', catalog]
    return airbyte(words, shelf, { input, ...given })
  }

  const BOOKS = { name: 'books' }
  const JOURNALS = { name: 'journals' }
  const stats = (states: readonly object[]) =>
    states.map((one) => (one as { destinationStats?: object }).destinationStats)

  it('prints its specification', async () => {
    const shelf = createShelf()
    const { messages } = await airbyte(['spec'], shelf)
    expect(messages).toEqual([{ type: 'SPEC', spec: shelf.connector.spec }])
  })

  it('offers an operation for each mode of an object, with its matching keys', async () => {
    const { messages } = await airbyte(['discover', '--config', {}])
    expect(messages.map(({ destination_catalog }) => destination_catalog)).toEqual([
      {
        operations: [
          { object_name: 'books', sync_mode: 'append', matching_keys: [['isbn']] },
          { object_name: 'books', sync_mode: 'overwrite', matching_keys: [['isbn']] },
          { object_name: 'journals', sync_mode: 'append', matching_keys: [['id']] },
        ].map((one) => expect.objectContaining({ ...one, json_schema: expect.anything() })),
      },
    ])
  })

  it.each([
    [{ token: 'secret-1' }, 'SUCCEEDED', 'A shelf.'],
    [{}, 'FAILED', 'A token is missing. [x-test]'],
  ])('checks %j', async (config, value, message) => {
    const { messages } = await airbyte(['check', '--config', config])
    expect(messages.map(({ connectionStatus }) => connectionStatus)).toEqual([
      { status: value, message },
    ])
  })

  it('passes on states in their order, with every digit, and with the outcome of their records', async () => {
    const shelf = createShelf()
    const large = JSON.stringify(state('books', 0)).replace('"at":0', '"at":12345678901234567890')
    const { exitCode, states, stdout, logs } = await write(
      [BOOKS, JOURNALS],
      [
        book('a'),
        journal(1),
        book(undefined),
        large,
        state('journals', 1),
        book('b', { _ab_cdc_deleted_at: '2026-01-01' }),
        book('a', { title: 'Another', _ab_cdc_deleted_at: null }),
        state('books', 2),
      ],
      { shelf },
    )
    expect(exitCode).toBe(0)
    expect(states.map(({ stream }) => stream.stream_descriptor.name)).toEqual([
      'books',
      'journals',
      'books',
    ])
    expect(stdout).toContain('"at":12345678901234567890')
    expect(stats(states)).toEqual([
      { recordCount: 1, rejectedRecordCount: 1 },
      { recordCount: 1, rejectedRecordCount: 0 },
      { recordCount: 2, rejectedRecordCount: 0 },
    ])
    expect(logs).toEqual(['WARN books: record 3 was rejected: It has no key. [record-rejected]'])
    expect([...shelf.books]).toEqual([['a', 'Another']])
  })

  it('counts the records of all streams in a state of all streams', async () => {
    const stream_states = [{ stream_descriptor: { name: 'books' } }]
    const all = { type: 'STATE', state: { type: 'GLOBAL', global: { stream_states } } }
    const input = [book('a'), journal(1), journal(undefined), all]
    const { states } = await write([BOOKS, JOURNALS], input)
    expect(stats(states)).toEqual([{ recordCount: 2, rejectedRecordCount: 1 }])
  })

  it('holds back a state until every record before it has its outcome', async () => {
    const shelf = createShelf()
    let release = () => {}
    const until = new Promise<void>((resolve) => {
      release = resolve
    })
    shelf.slowBook = { isbn: 'b', until }
    const input = new PassThrough()
    const stdout = createCollector()
    const ended = write([BOOKS], input, { shelf, stdout })
    const lines = [book('a'), book('b'), book('c'), state('books', 3)]
    input.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await expect.poll(() => [...shelf.books.keys()]).toEqual(['a', 'c'])
    await setImmediate()
    expect(stdout.text()).toBe('')
    release()
    // The input is still open: the state does not wait for more of it.
    await expect.poll(stdout.text).not.toBe('')
    input.end()
    expect((await ended).states).toHaveLength(1)
  })

  it('passes on everything before a damaged line, and nothing after it', async () => {
    const shelf = createShelf()
    const input = [
      book('a'),
      state('books', 1),
      '{"type":"RECORD","sec',
      book('b'),
      state('books', 2),
    ]
    const { exitCode, states, errors } = await write([BOOKS], input, { shelf })
    expect([exitCode, states.length, [...shelf.books.keys()]]).toEqual([1, 1, ['a']])
    expect(errors).toEqual([
      expect.stringMatching(/^Line 3 of the input is not JSON at column 18\. /),
    ])
  })

  it.each<[string, object]>([
    ['is a record of a stream that is not in the catalog', journal(1)],
    ['is a record without data', { type: 'RECORD', record: { stream: 'books', emitted_at } }],
    ['is a state message without a state', { type: 'STATE' }],
    ['is a state of a stream that is not in the catalog', state('journals', 1)],
  ])('stops at a line that %s', async (reason, line) => {
    const { exitCode, errors } = await write([BOOKS], [line, state('books', 1)])
    expect([exitCode, errors]).toEqual([
      1,
      [expect.stringContaining(`Line 1 of the input ${reason}.`)],
    ])
  })

  it('holds back the states of streams that could not be written, and writes the rest', async () => {
    const shelf = createShelf()
    const input = [book('a'), journal(1), state('books', 1), state('journals', 1)]
    const config = { mayWriteBooks: false }
    const { exitCode, states, errors } = await write([BOOKS, JOURNALS], input, { shelf, config })
    expect([exitCode, errors]).toEqual([
      1,
      ['books: The permission books.write is missing. [x-test]'],
    ])
    expect(states.map(({ stream }) => stream.stream_descriptor.name)).toEqual(['journals'])
    expect([...shelf.journals.keys()]).toEqual([1])
  })

  it.each<[object, string]>([
    [{ name: 'letters' }, 'letters: There is no object letters to write to.'],
    [
      { name: 'books', destination_sync_mode: 'soft_delete' },
      'books: The destination sync mode soft_delete cannot be used here. Choose one of append, overwrite.',
    ],
    [
      { name: 'x', destination_object_name: 'books', primary_key: [['title']] },
      'x: A record cannot be matched by title. Choose among isbn.',
    ],
  ])('refuses the stream %j, and writes the others', async (stream, reason) => {
    const shelf = createShelf()
    const streams = [stream as Configured, JOURNALS]
    const { name } = stream as Configured
    const record = { type: 'RECORD', record: { stream: name, emitted_at, data: { isbn: 'a' } } }
    const input = [record, journal(1), state(name, 1), state('journals', 1)]
    const { exitCode, states, errors } = await write(streams, input, { shelf })
    expect([exitCode, errors]).toEqual([1, [expect.stringContaining(reason)]])
    expect(states.map(({ stream }) => stream.stream_descriptor.name)).toEqual(['journals'])
    expect([shelf.books.size, shelf.journals.size]).toEqual([0, 1])
  })

  it('writes a stream of any name to the object in the catalog', async () => {
    const shelf = createShelf()
    const stream = { name: 'public.t', destination_object_name: 'books', primary_key: [['isbn']] }
    const record = {
      type: 'RECORD',
      record: { stream: 'public.t', emitted_at, data: { isbn: 'a' } },
    }
    await write([stream], [record], { shelf })
    expect([...shelf.books.keys()]).toEqual(['a'])
  })

  it.each<[string, Configured, readonly object[], Record<string, string>, string[]]>([
    [
      'a complete full refresh',
      { name: 'books', sync_mode: 'full_refresh' },
      [status('books', 'COMPLETE')],
      {},
      ['books'],
    ],
    ['changes', BOOKS, [status('books', 'COMPLETE')], {}, []],
    ['a full refresh without its end', { name: 'books', sync_mode: 'full_refresh' }, [], {}, []],
    [
      'the rest of an attempt',
      { name: 'books', sync_mode: 'full_refresh' },
      [status('books', 'COMPLETE')],
      { WORKER_JOB_ATTEMPT: '1' },
      [],
    ],
  ])('takes %s for all there is, or not', async (_what, stream, end, env, completed) => {
    const shelf = createShelf()
    await write([stream], [book('a'), ...end], { shelf, env })
    expect(shelf.completed).toEqual(completed)
  })

  it('passes on no state in a dry run', async () => {
    const config = { isDryRun: true }
    const { exitCode, states } = await write([BOOKS], [book('a'), state('books', 1)], { config })
    expect([exitCode, states]).toEqual([0, []])
  })

  it('ends if nobody reads its states any more', async () => {
    const stdout = createCollector()
    const input = new PassThrough()
    const ended = write([BOOKS], input, { stdout })
    stdout.destroy()
    expect((await ended).exitCode).toBe(1)
    expect(input.destroyed).toBe(true)
  })
})

describe('a destination of another kind, over Singer', () => {
  const schema = (stream: string) => ({ type: 'SCHEMA', stream, schema: {}, key_properties: [] })
  const record = (stream: string, record: object, version?: number) => ({
    type: 'RECORD',
    stream,
    record,
    version,
  })
  const target = (shelf: Shelf, input: NonNullable<Given['input']>, config: ShelfConfig = {}) =>
    runShelf(runSingerTarget, shelf, { words: ['--config', config], input })

  it('prints its version and its description', async () => {
    const version = await runShelf(runSingerTarget, createShelf(), { words: ['--version'] })
    const about = await runShelf(runSingerTarget, createShelf(), {
      words: ['--about', '--format=json'],
    })
    expect(version.stdout).toBe('target-shelf v1.2.3\n')
    expect(JSON.parse(about.stdout)).toMatchObject({
      name: 'target-shelf',
      capabilities: ['about', 'activate-version', 'structured-logging'],
      settings: { properties: { token: { secret: true } } },
    })
  })

  it('prints the value of a state, with every digit, once its records are written', async () => {
    const shelf = createShelf()
    const { exitCode, stdout, stderr } = await target(shelf, [
      schema('books'),
      record('books', { isbn: 'a', title: 'A' }),
      record('books', { isbn: 'b', _sdc_deleted_at: '2026-01-01' }),
      record('books', {}),
      '{"type": "STATE", "value": {"bookmarks": {"books": {"at": 12345678901234567890}}}}',
    ])
    expect([exitCode, stdout]).toEqual([
      0,
      '{"bookmarks": {"books": {"at": 12345678901234567890}}}\n',
    ])
    expect([...shelf.books]).toEqual([['a', 'A']])
    expect(stderr).toBe('WARNING books: record 3 was rejected: It has no key. [record-rejected]\n')
  })

  it('writes the stream of a table to the object of its name', async () => {
    const shelf = createShelf()
    await target(shelf, [schema('public-books'), record('public-books', { isbn: 'a' })])
    expect([...shelf.books.keys()]).toEqual(['a'])
  })

  it.each<[string, readonly object[], ShelfConfig, string]>([
    ['there is no object for', [schema('letters')], {}, 'letters: There is no object of this name'],
    [
      'may not be written',
      [schema('books'), record('books', { isbn: 'a' })],
      { mayWriteBooks: false },
      'books: The permission books.write is missing. (config) [x-test]',
    ],
  ])('keeps every state back when a stream %s', async (_what, input, config, reason) => {
    const shelf = createShelf()
    const all = [...input, record('journals', { id: 1 }), { type: 'STATE', value: { at: 1 } }]
    const { exitCode, stdout, stderr } = await target(shelf, all, config)
    expect([exitCode, stdout, [...shelf.journals.keys()]]).toEqual([1, '', [1]])
    expect(stderr).toContain(`ERROR ${reason}`)
  })

  it('prints the state before the records that could not be written, if everything has to stop', async () => {
    const shelf = createShelf()
    const until = Promise.reject(new ConnectorError('transient', 'x-test', 'The shelf is away.'))
    until.catch(() => {})
    shelf.slowBook = { isbn: 'b', until }
    const { exitCode, stdout, stderr } = await target(shelf, [
      record('books', { isbn: 'a' }),
      { type: 'STATE', value: { at: 1 } },
      record('books', { isbn: 'b' }),
      { type: 'STATE', value: { at: 2 } },
    ])
    expect([exitCode, stdout]).toEqual([1, '{"at":1}\n'])
    expect(stderr).toBe('ERROR The shelf is away. (transient) [x-test]\n')
  })

  it('stops at a batch, which it cannot read', async () => {
    const { exitCode, stdout, stderr } = await target(createShelf(), [
      schema('books'),
      { type: 'STATE', value: { at: 1 } },
      { type: 'BATCH', stream: 'books', manifest: [] },
      { type: 'STATE', value: { at: 2 } },
    ])
    expect([exitCode, stdout]).toEqual([1, '{"at":1}\n'])
    expect(stderr).toContain('Line 3 of the input is a BATCH message')
  })

  it('treats a stream as complete when its version is activated', async () => {
    const shelf = createShelf()
    const activate = { type: 'ACTIVATE_VERSION', stream: 'books', version: 7 }
    await target(shelf, [schema('books'), record('books', { isbn: 'a' }, 7), activate])
    expect(shelf.completed).toEqual(['books'])
  })
})
