import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../src/protocol/errors.ts'
import { runSingerTarget } from '../src/protocol/singer/target/cli.ts'
import { type Given, runShelf } from './testing/run-shelf.ts'
import { createShelf, type Shelf, type ShelfConfig } from './testing/shelf.ts'

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

  it('tells its version, and what it is', async () => {
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

  it('prints the value of a state, digit by digit, once its records are written', async () => {
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
    expect(stderr).toBe('WARNING books: record 3 was rejected: It has no key.\n')
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
      'books: The permission books.write is missing.',
    ],
  ])('keeps every state back when a stream %s', async (_what, input, config, reason) => {
    const shelf = createShelf()
    const all = [...input, record('journals', { id: 1 }), { type: 'STATE', value: { at: 1 } }]
    const { exitCode, stdout, stderr } = await target(shelf, all, config)
    expect([exitCode, stdout, [...shelf.journals.keys()]]).toEqual([1, '', [1]])
    expect(stderr).toContain(`ERROR ${reason}`)
  })

  it('prints the state before what could not be written, when everything has to stop', async () => {
    const shelf = createShelf()
    const until = Promise.reject(new ConnectorError('transient', 'The shelf is away.'))
    until.catch(() => {})
    shelf.slowBook = { isbn: 'b', until }
    const { exitCode, stdout, stderr } = await target(shelf, [
      record('books', { isbn: 'a' }),
      { type: 'STATE', value: { at: 1 } },
      record('books', { isbn: 'b' }),
      { type: 'STATE', value: { at: 2 } },
    ])
    expect([exitCode, stdout]).toEqual([1, '{"at":1}\n'])
    expect(stderr).toBe('ERROR The shelf is away. (transient)\n')
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

  it('takes a stream for all there is when its version is activated', async () => {
    const shelf = createShelf()
    const activate = { type: 'ACTIVATE_VERSION', stream: 'books', version: 7 }
    await target(shelf, [schema('books'), record('books', { isbn: 'a' }, 7), activate])
    expect(shelf.completed).toEqual(['books'])
  })
})
