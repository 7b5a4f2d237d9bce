import { describe, expect, it } from 'vitest'
import {
  type Changes,
  changesAfter,
  hasHistory,
  historyOf,
  INITIAL,
  isOfDelta,
  LIST,
  POSITION,
  type Position,
  positionFields,
  readPosition,
} from './position.ts'
import { AT, CHANGES } from './testing/positions.ts'

const PAGE = { url: '/clockings?page=2', at: AT }
const HISTORY = historyOf(CHANGES)
/** The changes behind lists: they may have been requested, and the lists are not complete. */
const BEHIND_LISTS = { ...CHANGES, maybeConsumed: true, historyAt: null }
const WHOLE: Position = { phase: 'complete', next: 'list' }

type Fields = Parameters<typeof readPosition>[0]
type Given = Partial<Parameters<typeof readPosition>[1]>

/** The position that is restored for a delta with days from 2024 on, but for what is given. */
function restored(position: Position, given: Given = {}, fields: Partial<Fields> = {}) {
  const surroundings = { mode: 'incremental', start: '2024-01-01', hasHistoryIds: false, ...given }
  return readPosition({ ...positionFields(position), ...fields }, surroundings)
}

describe('a position', () => {
  const withoutDays = { start: null }
  it.each<[string, Position, Given, Position]>([
    ['before a delta', INITIAL, {}, INITIAL],
    [
      'in the first phase of a delta, whose page may have been requested',
      { ...INITIAL, page: PAGE, window: '2025-01-01' },
      {},
      { ...INITIAL, page: PAGE, window: '2025-01-01', maybeConsumed: true },
    ],
    [
      'in the first phase of a delta without days',
      { ...INITIAL, page: PAGE },
      withoutDays,
      { ...INITIAL, page: PAGE, maybeConsumed: true },
    ],
    ['before changes', CHANGES, {}, CHANGES],
    [
      'in changes, whose link may have been requested',
      { ...CHANGES, requested: true },
      {},
      { ...CHANGES, requested: true, maybeConsumed: true },
    ],
    [
      'before changes without days',
      { ...CHANGES, window: null },
      withoutDays,
      { ...CHANGES, window: null },
    ],
    ['after a delta', { phase: 'complete', next: CHANGES }, {}, CHANGES],
    [
      'before the lists of the days before the window',
      HISTORY,
      {},
      { ...HISTORY, history: { begunAt: null, changes: BEHIND_LISTS } },
    ],
    [
      'in these lists',
      { ...HISTORY, slice: '2024', page: PAGE, history: { begunAt: AT, changes: CHANGES } },
      { hasHistoryIds: true },
      { ...HISTORY, slice: '2024', page: PAGE, history: { begunAt: AT, changes: BEHIND_LISTS } },
    ],
    ['before a list', LIST, {}, LIST],
    ['before a list of a full refresh', LIST, { mode: 'full_refresh' }, LIST],
    [
      'in a list',
      { ...LIST, slice: '', page: PAGE, until: '2026-12-31' },
      { hasHistoryIds: true },
      { ...LIST, slice: '', page: PAGE, until: '2026-12-31' },
    ],
    [
      'in a list without days',
      { ...LIST, slice: 'people', page: PAGE, until: '2026-12-31' },
      withoutDays,
      { ...LIST, slice: 'people', page: PAGE, until: '2026-12-31' },
    ],
    [
      'in a list of one day',
      { ...LIST, slice: '', until: '2024-01-01' },
      {},
      { ...LIST, slice: '', until: '2024-01-01' },
    ],
    ['after a list', WHOLE, {}, WHOLE],
    ['after a full refresh', WHOLE, { mode: 'full_refresh' }, WHOLE],
  ])('%s is restored', (_, position, given, expected) => {
    expect(restored(position, given)).toEqual(expected)
  })

  it.each<[string, Position, Given, Partial<Fields>]>([
    ['a delta in a full refresh', CHANGES, { mode: 'full_refresh' }, {}],
    ['the beginning of a delta in a full refresh', INITIAL, { mode: 'full_refresh' }, {}],
    ['a first phase of days without a window', { ...INITIAL, page: PAGE }, {}, {}],
    [
      'a first phase with a window of records without days',
      { ...INITIAL, page: PAGE, window: '2025-01-01' },
      withoutDays,
      {},
    ],
    ['changes of days without a window', CHANGES, {}, { window: null }],
    ['changes with a window of records without days', CHANGES, withoutDays, {}],
    ['changes without a link', CHANGES, {}, { link: null }],
    ['lists without the changes to come back to', HISTORY, {}, { deltaLink: null }],
    [
      'lists of days before a window that begins with the start',
      HISTORY,
      { start: '2025-01-01' },
      {},
    ],
    ['lists of days before the window without a last day', HISTORY, {}, { until: null }],
    ['a page of these lists without its list', { ...HISTORY, page: PAGE }, {}, {}],
    ['a page of a list without its list', { ...LIST, page: PAGE, until: '2026-12-31' }, {}, {}],
    ['a list without a last day', { ...LIST, slice: '' }, {}, {}],
    ['a page without a list and a last day', { ...LIST, page: PAGE }, {}, {}],
    ['a list without days and a last day', { ...LIST, slice: 'people' }, withoutDays, {}],
    ['a list that ends before it begins', { ...LIST, slice: '', until: '2023-12-31' }, {}, {}],
    ['lists that end before they begin', { ...LIST, until: '2023-12-31' }, {}, {}],
    ['the end of a list with a page', WHOLE, {}, { link: PAGE.url }],
    ['the end of a list with a list', WHOLE, {}, { slice: '' }],
    [
      'ids of days that are not before the window',
      CHANGES,
      { start: '2025-01-01', hasHistoryIds: true },
      {},
    ],
  ])('is not restored from %s', (_, position, given, fields) => {
    expect(restored(position, given, fields)).toBeUndefined()
  })

  it('behind lists has requested no changes yet', () => {
    expect(restored(HISTORY, {}, { requested: true })).toEqual(restored(HISTORY))
  })

  it('of a stream that was never read is the end of a list', () => {
    expect(positionFields(WHOLE)).toEqual(POSITION.fresh)
  })
})

it.each<[string | null, string | null, boolean]>([
  ['2024-12-31', '2025-01-01', true],
  ['2025-01-01', '2025-01-01', false],
  ['2025-06-01', '2025-01-01', false],
  [null, null, false],
])('a stream from %s on has days before the window from %s on: %s', (start, window, expected) => {
  expect(hasHistory(start, window)).toBe(expected)
})

it('the lists of the days before the window end with the day before it', () => {
  expect(historyOf(CHANGES)).toEqual({
    ...LIST,
    until: '2024-12-31',
    history: { begunAt: null, changes: CHANGES },
  })
})

it.each<[string, Position, Changes | undefined, boolean]>([
  ['before a delta', INITIAL, undefined, true],
  ['in changes', CHANGES, undefined, true],
  ['in the lists of the days before the window', HISTORY, undefined, true],
  ['in a list', LIST, undefined, false],
  ['after a list', WHOLE, undefined, false],
  ['after changes', { phase: 'complete', next: CHANGES }, CHANGES, false],
])(
  '%s, these changes follow after the sync, and a delta goes on: %#',
  (_, position, next, isBegun) => {
    expect([changesAfter(position), isOfDelta(position)]).toEqual([next, isBegun])
  },
)
