import { expect, it } from 'vitest'
import type { LatestChanges } from '../rows/latest-changes.ts'
import { countLacking, daysOf, type ListAndChanges } from './comparison.ts'

const RANGE = { from: '2024-06-01', until: '2026-11-20' }
const DAY = '2026-11-02'

interface Given {
  /** The version of row 1 by the latest change, null if it was deleted, and its day. */
  readonly version?: string | null
  readonly day?: string | null
  /** How the list has it. */
  readonly listed?: { readonly version: string; readonly part: string }
  readonly highest?: string
  /** Whether it lives by the changes after the list; undefined if ids are not tracked. */
  readonly lives?: boolean | undefined
  readonly window?: string | null
  readonly range?: ListAndChanges['range']
}

/** Whether a list from June 2024 on, with the window from 2025 on, lacks a change, but for what is given. */
function lacks(given: Given): boolean {
  const { version = 'v5', day = DAY, listed, highest = '' } = given
  const { window = '2025-01-01', range = RANGE } = given
  const lives = 'lives' in given ? given.lives : version !== null
  const changes: LatestChanges = new Map([[1, { version, day }]])
  const keys = {
    isTracked: lives !== undefined,
    has: (key: unknown) => key === 1 && lives === true,
  }
  const parts = {
    listed: (key: unknown) => (key === 1 ? listed : undefined),
    highestListed: highest,
  }
  return countLacking(changes, { range, window, keys, parts }) === 1
}

const has = (version: string, part = '2026-11') => ({ listed: { version, part } })
const GONE = { version: null, day: null }
const NO_DAYS = { window: null, range: null, day: null }

it.each<[string, Given, boolean]>([
  ['has the row as it was reported', has('v5'), false],
  ['has a later version of it', has('v6'), false],
  ['has an earlier version of it', has('v4'), true],
  ['does not have it', {}, true],
  ['does not have it, and nothing that is later', { highest: 'v5' }, true],
  ['does not have it, but a later change', { highest: 'v6' }, false],
  ['does not have it, after it was deleted meanwhile', { lives: false }, false],
  ['has an earlier version, after it was deleted meanwhile', { ...has('v4'), lives: false }, false],
  ['does not have it, and ids are not tracked', { lives: undefined }, true],
  [
    'does not have it, because its day is before the list',
    { day: '2024-05-31', window: '2024-01-01' },
    false,
  ],
  ['does not have its first day', { day: '2024-06-01', window: '2024-01-01' }, true],
  ['does not have it, because its day is after the list', { day: '2026-11-21' }, false],
  ['does not have its last day', { day: '2026-11-20' }, true],
  ['does not have it, whose day is before the window', { day: '2024-12-31' }, false],
  ['does not have it on the first day of the window', { day: '2025-01-01' }, true],
  ['does not have it, whose day is unknown', { day: null }, false],
  ['does not have it, in a stream without days', NO_DAYS, true],
  ['has the row that was deleted', { ...GONE, ...has('v4') }, true],
  ['does not have it, which was deleted', GONE, false],
  ['has it, after it was written again meanwhile', { ...GONE, ...has('v6'), lives: true }, false],
  ['has it, and ids are not tracked', { ...GONE, ...has('v4'), lives: undefined }, true],
  [
    'has it before the window, where it may have moved',
    { ...GONE, ...has('v4', '2024-12') },
    false,
  ],
  ['has it in the first month of the window', { ...GONE, ...has('v4', '2025-01') }, true],
  [
    'has it in a month that began before the window',
    { ...GONE, ...has('v4', '2025-01'), window: '2025-01-15' },
    false,
  ],
  ['has it, in a stream without days', { ...GONE, ...NO_DAYS, ...has('v4', 'all') }, true],
])('a list %s: %#', (_, given, expected) => {
  expect(lacks(given)).toBe(expected)
})

it('a list may lack several changes', () => {
  const changes: LatestChanges = new Map([1, 2, 3].map((key) => [key, { version: 'v5', day: DAY }]))
  const keys = { isTracked: true, has: () => true }
  const parts = {
    listed: (key: unknown) => (key === 2 ? has('v5').listed : undefined),
    highestListed: '',
  }
  expect(countLacking(changes, { range: RANGE, window: '2025-01-01', keys, parts })).toBe(2)
})

it.each([
  ['no month', [], ''],
  ['a month', ['2026-02'], '2026-02-01 to 2026-02-28'],
  ['months one after another', ['2025-12', '2026-01', '2026-02'], '2025-12-01 to 2026-02-28'],
  [
    'months with others between them, in any order',
    ['2026-03', '2025-12', '2026-01'],
    '2025-12-01 to 2026-01-31, 2026-03-01 to 2026-03-31',
  ],
  ['a part that is no month', ['2026-02', 'all'], '2024-06-01 to 2026-11-20'],
  ['a part with more than a month', ['2026-021'], '2024-06-01 to 2026-11-20'],
  ['a part that only ends like a month', ['x2026-02'], '2024-06-01 to 2026-11-20'],
])('the days that are listed again for %s: %#', (_, parts, expected) => {
  const days = daysOf(new Set(parts), RANGE).map(({ from, until }) => `${from} to ${until}`)
  expect(days.join(', ')).toBe(expected)
})
