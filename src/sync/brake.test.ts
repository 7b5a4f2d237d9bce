import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config/config.ts'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import { DELETE } from '../records/record-batch.ts'
import type { Key } from '../rows/id-set.ts'
import { createIdBudget } from '../rows/stored-keys.ts'
import { batch } from '../rows/testing/batch.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import { deleteMissing, mayDelete, warnOfReported } from './brake.ts'
import { lossesAt, lossesWith } from './losses.ts'
import { readState, type StoredState } from './stored-state.ts'
import { createStreamState } from './stream-state.ts'
import type { StreamTask } from './stream-task.ts'

const BEFORE = new Date('2026-11-10T03:00:00Z')
const DAY = '2026-11-20'
const NOW = new Date(`${DAY}T03:00:00Z`)

/** Rows of one part of a stream: ids, or references of a collection. */
const rowsOf = (part: string, count: number) =>
  Array.from({ length: count }, (_, i) => ({ id: part === '' ? i + 1 : `${part} ${i}` }))

interface Given {
  /** How many rows the warehouse has of each part, and how many of them the read has found. */
  readonly rows: Readonly<Record<string, readonly [known: number, found: number]>>
  readonly mode?: 'incremental' | 'full_refresh'
  readonly config?: object
  readonly changes?: Partial<StoredState>
  /** The rows whose deletes are withheld, if they are not all that the warehouse has. */
  readonly withheld?: readonly number[]
}

/** A complete read that has found some of the rows that an earlier sync had read, and what becomes of it. */
function readOf({ rows, mode = 'incremental', config = {}, changes = {}, withheld }: Given) {
  const stream = streams.get('' in rows ? 'people' : 'external_references') as Stream
  const task = { stream, mode, fields: undefined } as StreamTask
  const said: string[] = []
  const log = {
    info() {},
    debug() {},
    warn: ({ message }: IdentifiedMessage) => void said.push(message),
  }
  const identity = { service: 'acme', environment: 'production', settings: '', start: null }
  const tools = (now: Date) => ({
    clock: { now: () => now },
    log,
    ids: createIdBudget(new Map([[stream.stream, 0]])),
  })
  const each = Object.entries(rows)
  const batchOf = (which: 0 | 1) =>
    batch(...each.flatMap(([part, counts]) => rowsOf(part, counts[which])).map(keyed))
  const earlier = createStreamState(
    { values: { ...identity, cursor: 0 }, from: 'first sync' },
    task,
    tools(BEFORE),
  )
  earlier.keys.observe(batchOf(0), 'window')
  earlier.addRows(batchOf(0).count)
  const all = [...earlier.keys.living()].flatMap((keys): Key[] => [...keys])
  if (changes.withheldSince) earlier.keys.leaveUnconfirmed(withheld ?? all)
  earlier.moveTo({ phase: 'complete', next: 'list' })
  earlier.settle()
  const stored = { ...(readState(earlier.blob()) as StoredState), ...changes }
  const values = { ...identity, cursor: stored.cursor }
  const state = createStreamState({ values, from: stored }, task, tools(NOW))
  if (changes.haveOtherKeys !== undefined) state.note({ ...changes } as never)
  state.beginAnew()
  state.keys.observe(batchOf(1), 'window')
  state.addRows(batchOf(1).count)
  const done: string[] = []
  const output = {
    checkpoint: async (how?: { flush: true }) => void (how?.flush && done.push('stored')),
    deletes: async (keys: readonly string[]) => void done.push(`${keys.length} deleted`),
    note: (notice: { type: string; rows?: number }) => {
      if (notice.type === 'withheld') done.push(`${notice.rows} withheld`)
    },
  }
  const settings = parseConfig({
    tenant: 'acme',
    environment: { type: 'production' },
    client_id: 'id',
    client_secret: 'secret',
    ...config,
  })
  const context = { state, config: settings, clock: { now: () => NOW, set() {} }, output, log }
  return { context: context as unknown as Parameters<typeof mayDelete>[0], state, said, done }
}

/** A reference has a key of several values. */
function keyed({ id }: { id: number | string }) {
  return { id: typeof id === 'number' ? id : (id.split(' ') as unknown as string) }
}

const people = (known: number, found: number, more: Omit<Given, 'rows'> = {}): Given => ({
  rows: { '': [known, found] },
  ...more,
})
const idsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => first + i)
/** Deletes of rows are withheld since that time. */
const since = { withheldSince: BEFORE }
const approval = (text: string) => ({ config: { approved_deletes: [text] }, changes: since })
const time = BEFORE.toISOString()
const NO_LOSSES = lossesAt(BEFORE, null, new Map())

describe('rows that a complete read has not found', () => {
  it.each<[string, Given, boolean]>([
    ['may be deleted if they are a fifth', people(100, 80), true],
    ['may not if they are more', people(100, 79), false],
    [
      'may not if they are more than max_missing',
      people(100, 89, { config: { max_missing: '10' } }),
      false,
    ],
    ['may in a full refresh, which deletes none', people(100, 0, { mode: 'full_refresh' }), true],
    ['may if all rows have other keys', people(100, 0, { changes: { haveOtherKeys: true } }), true],
    ['may if that was approved', people(100, 79, approval(`people:21:${time}`)), true],
    ['may if one more was approved', people(100, 79, approval(`people:22:${time}`)), true],
    ['may not if fewer were approved', people(100, 79, approval(`people:20:${time}`)), false],
    [
      'may not if that was approved for another stream',
      people(100, 79, approval(`jobs:21:${time}`)),
      false,
    ],
    [
      'may not if they were approved later',
      people(100, 79, approval(`people:21:${NOW.toISOString()}`)),
      false,
    ],
    [
      'may not if another one was missing when that was approved',
      people(100, 79, { ...approval(`people:21:${time}`), withheld: idsFrom(79, 99) }),
      false,
    ],
    [
      'may if they are a fifth of all that are known before a first read has ended',
      people(100, 80, { changes: { isSettled: false, wholeRows: null, losses: NO_LOSSES } }),
      true,
    ],
    [
      'may not if they are too many of one part',
      { rows: { jobs: [10, 0], people: [990, 990] } },
      false,
    ],
  ])('%s', (_, given, expected) => {
    expect(mayDelete(readOf(given).context)).toBe(expected)
  })

  it('are deleted, and count against later ones, if they are few', async () => {
    const { context, state, said, done } = readOf(people(100, 95))
    await deleteMissing(context)
    expect([done, said]).toEqual([['5 deleted'], []])
    expect(state.losses).toEqual(new Map([['', { rows: 100, deleted: new Map([[DAY, 5]]) }]]))
  })

  it('are deleted with a warning if they are many', async () => {
    const { context, said, done } = readOf({ rows: { jobs: [200, 188], people: [400, 399] } })
    await deleteMissing(context)
    expect([done, said]).toEqual([
      ['13 deleted'],
      [
        'jobs in external_references: 12 of 200 rows were not found, and are deleted. If they exist, the API client can no longer see them: check its rights.',
      ],
    ])
  })

  it.each([{}, { haveOtherKeys: true }])(
    'leave the losses as they were if there are none: %j',
    async (changes) => {
      const losses = lossesWith(
        lossesAt(BEFORE, null, new Map([['', 100]])),
        new Map([['', 3]]),
        BEFORE,
      )
      const { context, state, done } = readOf(people(97, 97, { changes: { losses, ...changes } }))
      await deleteMissing(context)
      expect([done, state.losses]).toEqual([[], losses])
    },
  )

  it('are deleted without a warning if all rows have other keys', async () => {
    const { context, said, done } = readOf(people(100, 0, { changes: { haveOtherKeys: true } }))
    await deleteMissing(context)
    expect([done, said]).toEqual([['100 deleted'], []])
  })

  it('are kept if they are too many, until somebody has looked', async () => {
    const { context, state, said, done } = readOf(people(100, 79))
    await expect(deleteMissing(context)).rejects.toMatchObject({ id: 'deletes-withheld' })
    expect([done, said]).toEqual([['21 withheld', 'stored'], []])
    expect(state.keys.unconfirmed()).toHaveLength(21)
    expect(state).toMatchObject({ withheldSince: NOW, replacesOlder: false, isSettled: true })
  })

  it('are withheld since the first time', async () => {
    const { context, state } = readOf(people(100, 79, { changes: since }))
    await expect(deleteMissing(context)).rejects.toThrow()
    expect(state.withheldSince).toEqual(BEFORE)
  })

  it('are withheld anew if there are others than before', async () => {
    const { context, state } = readOf(
      people(100, 79, { changes: since, withheld: idsFrom(79, 99) }),
    )
    await expect(deleteMissing(context)).rejects.toThrow(`people:21:${NOW.toISOString()}`)
    expect(state.withheldSince).toEqual(NOW)
  })

  it('are deleted if that was approved, and do not count against later ones', async () => {
    const { context, state, done } = readOf(people(100, 79, approval(`people:21:${time}`)))
    await deleteMissing(context)
    expect([done, state.withheldSince]).toEqual([['21 deleted'], null])
    expect(state.losses).toEqual(new Map([['', { rows: 79, deleted: new Map() }]]))
  })

  it.each([
    [100, 2],
    [79, 23],
  ])(
    'and nobody could look for again are deleted with the others if all were approved: %d found',
    async (found, all) => {
      const { context, state, done } = readOf(people(100, found, approval(`people:${all}:${time}`)))
      state.keys.leaveUnconfirmed([1, 2])
      await deleteMissing(context)
      expect([done, state.withheldSince]).toEqual([[`${all} deleted`], null])
    },
  )

  it('and nobody could look for again stay if one of all was not approved', async () => {
    const { context, state } = readOf(people(100, 79, approval(`people:22:${time}`)))
    state.keys.leaveUnconfirmed([1, 2])
    await expect(deleteMissing(context)).rejects.toThrow('people:2:')
    expect(state.keys.unconfirmed()).toEqual([1, 2])
  })

  it('and nobody could look for again are no failure if nothing was withheld', async () => {
    const { context, state, done } = readOf(people(100, 100))
    state.keys.leaveUnconfirmed([1, 2])
    await deleteMissing(context)
    expect(done).toEqual([])
  })
})

describe('the failure of a stream whose deletes are withheld', () => {
  const end = `max_missing allows 20 %, so none of them is deleted; new and changed rows have been written. Check whether the API client may still see everything. The approval for deleting them is`
  const lost = (rows: number, ...deleted: [string, number][]) => ({
    rows,
    deleted: new Map(deleted),
  })
  it.each<[string, Given, readonly number[], string]>([
    [
      'of one part',
      people(100, 79, { changes: since }),
      [],
      `21 of the 100 rows of people were not found. ${end} people:21:`,
    ],
    [
      'of a part, after others',
      {
        rows: { jobs: [17, 2], people: [20, 18] },
        changes: {
          ...since,
          losses: new Map([
            ['jobs', lost(20, [DAY, 3])],
            ['people', lost(20)],
          ]),
        },
      },
      [],
      `15 of the 20 rows of jobs in external_references were not found, after 3 others in the last thirty days. In all of external_references, 17 are missing. ${end} external_references:17:`,
    ],
    [
      'of an earlier sync',
      people(100, 100, { changes: since }),
      [1, 2],
      `2 rows of people that an earlier sync has not found could not be looked for again. ${end} people:2:`,
    ],
  ])('says what is missing %s, and how it is approved', async (_, given, unconfirmed, text) => {
    const { context, state, done } = readOf(given)
    state.keys.leaveUnconfirmed(unconfirmed)
    await expect(deleteMissing(context)).rejects.toMatchObject({
      failure: 'config',
      id: 'deletes-withheld',
      message: expect.stringContaining(`${text}${time}.`),
    })
    expect(done).toEqual([expect.stringMatching(/^\d+ withheld$/), 'stored'])
  })
})

it.each([
  [20, []],
  [21, ['people: the service reported 21 of 100 rows as deleted, and they are deleted.']],
])('warns of the deletes that a delta has reported if they are many: %d', (count, expected) => {
  const { context, state, said } = readOf(people(100, 100))
  const deletes = rowsOf('', count).map(({ id }) => ({ id, kind: DELETE }))
  state.keys.observe(batch(...deletes), 'window', { isChange: true })
  warnOfReported(context)
  expect(said).toEqual(expected)
})

it('uses an approval once, although other rows stay unconfirmed', async () => {
  const { context, state } = readOf(people(100, 79, approval(`people:21:${time}`)))
  state.keys.leaveUnconfirmed([1])
  await expect(deleteMissing(context)).rejects.toThrow('people:1:')
  expect(state.withheldSince).toEqual(NOW)
})
