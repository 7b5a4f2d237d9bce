import { describe, expect, it } from 'vitest'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import { createIdBudget, type IdBudget } from '../rows/stored-keys.ts'
import { batch } from '../rows/testing/batch.ts'
import { streams } from '../streams/streams.ts'
import { lossesAt } from './losses.ts'
import { type Changes, INITIAL, LIST, type Position } from './position.ts'
import { FRESH, fieldDigests, KEYS, type StoredState } from './stored-state.ts'
import { createStreamState, type StreamState } from './stream-state.ts'
import type { StreamTask } from './stream-task.ts'

const NOW = new Date('2026-11-20T03:00:00Z')
const SECONDS = NOW.getTime() / 1000
const PAGE = { url: '/clockings?page=2', at: NOW }
const CHANGES: Changes = {
  phase: 'changes',
  delta: { url: '/delta/clockings', at: NOW },
  requested: false,
  maybeConsumed: false,
  window: '2025-06-01',
  historyAt: null,
}
const WHOLE: Position = { phase: 'complete', next: 'list' }
const IDENTITY = {
  service: 'acme',
  environment: 'production',
  settings: 'a'.repeat(16),
  start: '2025-06-01',
}

/** A settled delta with 100 rows in its last complete read, but for what is given. */
function stored(more: Partial<StoredState> = {}): StoredState {
  return {
    ...FRESH,
    ...IDENTITY,
    generation: SECONDS - 86_400,
    cursor: 7,
    isSettled: true,
    wholeRows: 100,
    position: CHANGES,
    keys: KEYS.fresh,
    ...more,
  }
}

interface Given {
  readonly stream?: string
  readonly from?: StoredState | string
  readonly task?: Partial<StreamTask>
  readonly settings?: string
  readonly cursor?: number
  readonly ids?: IdBudget
}

/** The time of the service. */
let time = NOW

/** A read that begins or continues, and what it says. */
function read(given: Given = {}) {
  time = NOW
  const clock = { now: () => time }
  const { stream = 'clockings', from = 'first sync', task = {}, settings, cursor = 0 } = given
  const { ids = createIdBudget(new Map([[stream, 0]])) } = given
  const said: string[] = []
  const log = {
    debug: (text: string) => void said.push(`debug: ${text}`),
    warn: ({ id, message }: IdentifiedMessage) => void said.push(`${id}: ${message}`),
  }
  const whole = {
    stream: streams.get(stream),
    mode: 'incremental',
    fields: ['id'],
    ...task,
  } as StreamTask
  const values = { ...IDENTITY, settings: settings ?? IDENTITY.settings, cursor }
  return { state: createStreamState({ values, from }, whole, { clock, log, ids }), said }
}

const rows = (...ids: number[]) => batch(...ids.map((id) => ({ id })))

it('a lost response makes an audit due, whatever was compared before', () => {
  const { state } = read({ from: stored({ comparedAt: NOW }) })
  state.loseChanges()
  expect(state).toMatchObject({ mayLackChanges: true, comparedAt: null, lostResponses: 1 })
})

describe('a read', () => {
  it.each<[string, Given, Position]>([
    ['a delta', {}, INITIAL],
    ['the list of a stream without a delta', { stream: 'sectors' }, LIST],
    ['a list in a full refresh', { task: { mode: 'full_refresh' } }, LIST],
    ['where it was', { from: stored() }, CHANGES],
  ])('begins with %s', (_, given, position) => {
    expect(read(given).state.position).toEqual(position)
  })

  it('has what it was asked for if it is the first', () => {
    expect(read({ task: { byLists: { from: null, until: '2026-12-24' } } }).state).toMatchObject({
      generation: SECONDS,
      listedUntil: '2026-12-24',
      rowsCounted: 0,
      rowsSoFar: 0,
      fields: fieldDigests(['id']),
      isContinued: false,
      isRefreshed: false,
      startsNoDelta: true,
      mayHaveMoved: false,
      begunFrom: { kind: 'begins', how: 'from the beginning: first sync' },
    })
  })

  it('that continues keeps what is stored', () => {
    const from = stored({ generation: 5, rowsCounted: null, listedUntil: '2026-12-31' })
    expect(read({ from }).state).toMatchObject({
      generation: 5,
      listedUntil: '2026-12-31',
      rowsCounted: null,
      isContinued: true,
      startsNoDelta: false,
    })
  })

  it.each<[string, Partial<StoredState>, number | null]>([
    ['none of a complete one', { rowsSoFar: 30 }, null],
    ['those of one that is not complete', { isSettled: false, rowsSoFar: 30 }, 30],
    ['none if they are unknown', { isSettled: false, rowsSoFar: null }, 0],
  ])('counts on from the rows of the one before: %s', (_, more, expected) => {
    expect(read({ from: stored(more) }).state.rowsSoFar).toBe(expected)
  })

  it.each<[string, number | null | undefined, Partial<StoredState>, Partial<StreamTask>, boolean]>([
    ['by an attempt of the same refresh', 5, { refresh: 5 }, {}, true],
    ['not by another refresh', 6, { refresh: 5 }, {}, false],
    ['not if neither says which one it is', undefined, { refresh: null }, {}, false],
    ['not by an attempt that was interrupted', 5, { refresh: 5, position: LIST }, {}, false],
    ['not in an incremental read', 5, { refresh: 5 }, { mode: 'incremental' }, false],
  ])('has been written %s', (_, refresh, more, task, expected) => {
    const from = stored({ mode: 'full_refresh', position: WHOLE, ...more })
    const asked = refresh === undefined ? {} : { refresh }
    const { state } = read({
      from,
      task: { mode: 'full_refresh', ...asked, ...task } as StreamTask,
    })
    expect(state.isRefreshed).toBe(expected)
  })

  it.each<[string, Given, boolean]>([
    ['under the same settings', {}, false],
    ['of references under other settings', { settings: 'b'.repeat(16) }, true],
    ['of references that were read before', { from: stored({ settings: 'b' }) }, true],
    ['of references without a state', { from: 'first sync', settings: 'b' }, false],
    ['of records with an id', { settings: 'b'.repeat(16), stream: 'people' }, false],
  ])('may have other keys: %s', (_, given, expected) => {
    const { state } = read({ stream: 'external_references', from: stored(), ...given })
    expect(state.haveOtherKeys).toBe(expected)
  })

  it.each<[string, Partial<StoredState>, number]>([
    ['all rows, after a complete one', { losses: lossesAt(NOW, null, new Map([['', 9]])) }, 0],
    [
      'those with which it began',
      { isSettled: false, losses: lossesAt(NOW, null, new Map([['', 9]])) },
      9,
    ],
    ['all rows, if it does not know with which it began', { isSettled: false, losses: null }, 0],
  ])('may lose a part of %s', (_, more, rowsBefore) => {
    const losses = read({ from: stored(more) }).state.losses
    expect([...(losses?.values() ?? [])].map((one) => one.rows)).toEqual([rowsBefore])
  })
})

describe('the cursor of a read', () => {
  it.each([
    ['is the time in microseconds, and rises', 0, SECONDS * 1_000_000],
    ['is far behind the cursors that may have been written', 2 ** 52, 2 ** 52 + 1_000_000],
  ])('%s', (_, cursor, expected) => {
    const { state } = read({ cursor })
    expect(state.stamp()).toEqual({ generation: SECONDS, cursor: expected, now: NOW })
    expect(state.stamp().cursor).toBe(expected + 1)
  })
})

/** What a read is like that has begun, and has met things that only concern it. */
function begun(given: Given = {}): ReturnType<typeof read> {
  const one = read(given)
  one.state.note({
    mayHaveMoved: true,
    isListDue: true,
    replacesOlder: false,
    auditedParts: new Map([['all', 'x']]),
    latestChanges: new Map([[1, { version: '0A', day: null }]]),
  })
  one.state.addRows(3)
  return one
}

describe('a read that begins anew', () => {
  const LATER = new Date(NOW.getTime() + 60_000)

  it('forgets what it has met', () => {
    const { state } = begun({ from: stored({ position: CHANGES }) })
    time = LATER
    state.beginAnew()
    expect(state).toMatchObject({
      generation: SECONDS + 60,
      position: INITIAL,
      isSettled: false,
      isListDue: false,
      replacesOlder: true,
      auditedParts: new Map(),
      latestChanges: new Map(),
      isContinued: false,
      mayHaveMoved: false,
      rowsSoFar: 0,
    })
  })

  it('is of a later generation, whatever the time', () => {
    const { state } = begun({ from: stored({ generation: SECONDS + 3600 }) })
    state.beginAnew()
    expect(state.generation).toBe(SECONDS + 3601)
  })

  it('is no longer written if it was', () => {
    const from = stored({ mode: 'full_refresh', refresh: 5, position: WHOLE })
    const { state } = read({ from, task: { mode: 'full_refresh', refresh: 5 } })
    state.beginAnew()
    expect(state).toMatchObject({ isRefreshed: false, position: LIST })
  })

  it('has to find all rows again', () => {
    const { state } = read()
    state.keys.observe(rows(1, 2), 'window')
    state.beginAnew()
    expect(state.keys.gone()).toHaveLength(2)
  })

  it.each<[string, Partial<StreamTask>, boolean, number, number]>([
    ['keeps its generation and keys in a full refresh', { mode: 'full_refresh' }, true, 0, 1],
    ['sends all rows again if no link died', { mode: 'full_refresh' }, false, 60, 0],
    ['has another generation in an incremental read', {}, true, 60, 0],
  ])('because of a dead link %s', (_, task, isDeadLink, seconds, skipped) => {
    const { state } = read({ task })
    const sent = rows(1)
    if (state.mode === 'full_refresh') state.keys.skipSent(sent)
    time = LATER
    state.startOver({ why: 'x', message: 'X', isDeadLink })
    const again = rows(1)
    if (state.mode === 'full_refresh') state.keys.skipSent(again)
    expect(state.generation).toBe(SECONDS + seconds)
    expect(again.ops[0] === sent.ops[0] ? 0 : 1).toBe(skipped)
  })

  it.each<[boolean | undefined, string]>([
    [undefined, 'starts-over: The link died; the stream is read from the beginning.'],
    [true, 'debug: The link died; the stream is read from the beginning.'],
  ])('says why, but is quiet if that is asked for: %s', (isQuiet, expected) => {
    const { state, said } = read()
    state.startOver({ why: 'dead link', message: 'The link died', ...(isQuiet && { isQuiet }) })
    expect(said).toEqual([expected])
  })

  it.each<[string, string | null | undefined, string | null]>([
    ['the same first day', undefined, '2025-06-01'],
    ['another first day', '2025-01-01', '2025-01-01'],
    ['no first day', null, null],
  ])('has %s', (_, start, expected) => {
    const { state } = read({ from: stored() })
    state.startOver({ why: 'other', message: 'x' }, start)
    expect(state).toMatchObject({
      start: expected,
      begunFrom: { how: 'from the beginning: other', expected: 100 },
    })
  })
})

it.each<[string, Partial<StoredState>, number | null, number | null]>([
  ['of a first phase', { isSettled: false, position: INITIAL, rowsSoFar: 30 }, 33, 1003],
  ['of changes before a read is complete', { isSettled: false, rowsSoFar: 30 }, 30, 1003],
  ['of a complete read', {}, null, 1003],
  [
    'whose number was never known',
    { isSettled: false, position: LIST, rowsCounted: null },
    3,
    null,
  ],
])('rows %s are counted', (_, more, soFar, counted) => {
  const { state } = read({ from: stored({ rowsCounted: 1000, ...more }) })
  state.addRows(3)
  expect([state.rowsSoFar, state.rowsCounted]).toEqual([soFar, counted])
})

describe('a read of which everything has been written', () => {
  const open = { isSettled: false, rowsSoFar: 30, leftFrom: '2025-01-01', isListDue: true }
  it.each<[string, Partial<StoredState>, Partial<StreamState>]>([
    ['has the number of its rows', open, { wholeRows: 30, leftFrom: null }],
    [
      'keeps that of an earlier one if it was complete before',
      { ...open, isSettled: true },
      { wholeRows: 100, leftFrom: '2025-01-01' },
    ],
    [
      'still knows which days have left if deletes are withheld',
      { ...open, withheldSince: NOW },
      { wholeRows: 30, leftFrom: '2025-01-01' },
    ],
  ])('%s', (_, more, expected) => {
    const { state } = read({ from: stored({ haveOtherKeys: true, ...more }) })
    state.settle()
    const settled = { isSettled: true, haveOtherKeys: false, rowsSoFar: null }
    expect(state).toMatchObject({ ...settled, ...expected })
  })

  it.each(['full_refresh', 'incremental'] as const)(
    'keeps its ids unless they were sent: %s',
    (mode) => {
      const { state } = read({ task: { mode } })
      const all = rows(1)
      if (mode === 'full_refresh') state.keys.skipSent(all)
      else state.keys.observe(all, 'window')
      state.settle()
      expect(state.blob()['window_ids'] === null).toBe(mode === 'full_refresh')
    },
  )
})

describe('the state to store', () => {
  /** A budget with room for so many characters. */
  const room = (most: number): IdBudget => ({ take: (_, characters) => characters <= most })

  it('warns once if the ids are too many', () => {
    const { state, said } = read({ ids: room(0) })
    state.keys.observe(rows(1), 'window')
    expect([state.blob()['tracked'], state.blob()['tracked']]).toEqual([false, false])
    expect(said).toEqual([expect.stringMatching(/^ids-too-many: the set of live ids is too large/)])
  })

  it('says nothing of too many ids in a full refresh, which has no deletes', () => {
    const { state, said } = read({ ids: room(0), task: { mode: 'full_refresh' } })
    state.keys.skipSent(rows(1))
    expect([state.blob()['tracked'], said]).toEqual([false, []])
  })

  it('is at the beginning of the read if only these ids fit', () => {
    const first = read()
    first.state.keys.observe(rows(1, 2, 3, 4), 'window')
    const { window_ids: window } = first.state.blob()
    const from = stored({
      isSettled: false,
      rowsSoFar: 30,
      keys: { ...KEYS.fresh, pending: [{ keys: String(window), isUnseen: true }] },
    })
    const { state } = read({ from, ids: room(String(window).length) })
    state.keys.observe(rows(1, 2), 'window')
    const position = { phase: 'initial', link: null, rows_so_far: null }
    expect(state.blob()).toMatchObject({ ...position, settled: false, tracked: true })
  })

  it.each<[string, number, Map<string, string>]>([
    ['keeps', 9999, new Map([['all', 'x']])],
    ['forgets', 30, new Map()],
  ])('%s fingerprints that the rows written since belong to', (_, most, expected) => {
    const from = stored({ auditedParts: new Map([['all', 'x']]) })
    const { state } = read({ from, ids: room(most) })
    const all = rows(1, 2, 3)
    state.keys.observe(all, 'window')
    state.keys.noteWritten(all)
    state.blob()
    expect(state.auditedParts).toEqual(expected)
  })

  it('is not written if it could not be read again', () => {
    const { state } = read({ from: stored() })
    state.note({ start: 'no day' })
    expect(() => state.blob()).toThrow(
      'The connector made a state that it could not read again: its field start is damaged. It is not written',
    )
  })

  it.each<[string, (state: StreamState) => void, boolean]>([
    ['between two pages', (state) => state.note({ wholeRows: state.wholeRows }), false],
    [
      'in another phase',
      (state) => state.moveTo({ ...LIST, slice: '', page: PAGE, until: '2026-12-31' }),
      true,
    ],
    ['once it is complete', (state) => state.settle(), true],
    ['after another value was noted', (state) => state.note({ wholeRows: 5 }), true],
    ['in another generation', (state) => state.beginAnew(), true],
  ])('is checked again %s', (_, change, isChecked) => {
    const { state } = read({ from: stored({ isSettled: false }) })
    state.blob()
    change(state)
    Object.assign(state, { service: 7 })
    const written = () => state.blob()['service']
    if (isChecked) expect(written).toThrow('its field service is damaged')
    else expect(written()).toBe(7)
  })
})
