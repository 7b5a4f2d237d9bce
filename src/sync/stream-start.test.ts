import { expect, it } from 'vitest'
import { LIST, type Position } from './position.ts'
import { continued, fromBeginning } from './stream-start.ts'

const CHANGES: Position = {
  phase: 'changes',
  delta: { url: '/delta/clockings', at: null },
  requested: false,
  maybeConsumed: false,
  window: null,
  historyAt: null,
}
const WHOLE: Position = { phase: 'complete', next: 'list' }

/** A settled delta with 100 rows in its last complete read. */
const SETTLED = { isSettled: true, wholeRows: 100, rowsSoFar: null, position: CHANGES }

it.each<[string, Partial<Parameters<typeof continued>[0]>, ReturnType<typeof continued>]>([
  ['changes', {}, { kind: 'changes', how: 'incremental' }],
  ['a whole list', { position: WHOLE }, { kind: 'whole', how: 'whole list', expected: 100 }],
  [
    'a whole list, of which the last number of rows is unknown',
    { position: WHOLE, wholeRows: null },
    { kind: 'whole', how: 'whole list', expected: undefined },
  ],
  [
    'the rest of a first read',
    { position: LIST, isSettled: false, rowsSoFar: 30 },
    { kind: 'continues', how: 'continued', expected: 70 },
  ],
  [
    'no rest of a read that has more rows than the one before',
    { position: LIST, isSettled: false, rowsSoFar: 130 },
    { kind: 'continues', how: 'continued', expected: 0 },
  ],
  [
    'all of a read that has no row yet',
    { position: LIST, isSettled: false, rowsSoFar: null },
    { kind: 'continues', how: 'continued', expected: 100 },
  ],
  [
    'an unknown rest, if the last number of rows is unknown',
    { position: LIST, isSettled: false, wholeRows: null },
    { kind: 'continues', how: 'continued', expected: undefined },
  ],
  [
    'an unknown rest of lists behind a read that is complete',
    { position: LIST, rowsSoFar: 30 },
    { kind: 'continues', how: 'continued', expected: undefined },
  ],
])('a read that continues expects %s', (_, more, expected) => {
  expect(continued({ ...SETTLED, ...more })).toEqual(expected)
})

it.each([
  [null, undefined],
  [100, 100],
])('a read from the beginning expects as many rows as the last one: %j', (whole, expected) => {
  const start = { kind: 'begins', how: 'from the beginning: first sync', expected }
  expect(fromBeginning('first sync', whole)).toEqual(start)
})
