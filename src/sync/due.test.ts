import { expect, it } from 'vitest'
import { isListDue, nextComparison } from './due.ts'
import type { Position } from './position.ts'

const NOW = new Date('2026-11-20T03:00:00Z')
const ago = (days: number) => new Date(NOW.getTime() - days * 86_400_000)

/** A delta at rest, whose days before the window were listed so many days ago. */
const complete = (historyAt: Date | null, window: string | null = '2025-01-01'): Position => ({
  phase: 'complete',
  next: {
    phase: 'changes',
    delta: { url: '/delta/clockings', at: NOW },
    requested: false,
    maybeConsumed: false,
    window,
    historyAt,
  },
})

/** What a comparison depends on: a state, and settings. */
type Facts = Parameters<typeof nextComparison>[0] & Parameters<typeof nextComparison>[1]

const FACTS: Facts = {
  mode: 'incremental',
  position: complete(ago(1)),
  start: '2024-01-01',
  auditedAt: ago(3),
  comparedAt: ago(3),
  generation: ago(90).getTime() / 1000,
  mayLackChanges: false,
  auditDays: 7,
  historyRefreshDays: 7,
}

it.each<[string, Partial<Facts>, 'audit' | 'history' | undefined]>([
  ['nothing, if neither is due', {}, undefined],
  ['an audit after audit_days', { auditedAt: ago(7) }, 'audit'],
  ['an audit if there was none', { auditedAt: null }, 'audit'],
  ['an audit if changes may have been lost', { mayLackChanges: true }, 'audit'],
  ['no audit even then if it is switched off', { mayLackChanges: true, auditDays: 0 }, undefined],
  [
    'no audit even then if that was tried an hour ago',
    { mayLackChanges: true, comparedAt: ago(1 / 24) },
    undefined,
  ],
  [
    'no audit if the stream was read from the beginning since',
    { auditedAt: null, generation: ago(2).getTime() / 1000 },
    undefined,
  ],
  ['an audit if the last one is in the future, by another clock', { auditedAt: ago(-2) }, 'audit'],
  ['no audit if it is switched off', { auditedAt: null, auditDays: 0 }, undefined],
  ['no audit in a full refresh', { auditedAt: null, mode: 'full_refresh' }, undefined],
  [
    'no audit of a stream that is listed',
    { auditedAt: null, position: { phase: 'complete', next: 'list' } },
    undefined,
  ],
  [
    'an audit in place of the days before the window',
    { auditedAt: ago(7), position: complete(ago(9)) },
    'audit',
  ],
  [
    'the days before the window after history_refresh_days',
    { position: complete(ago(7)) },
    'history',
  ],
  ['these days if no sync has listed all of them', { position: complete(null) }, 'history'],
  [
    'these days if nothing was compared before',
    { position: complete(null), comparedAt: null },
    'history',
  ],
  [
    'no such days if they are never refreshed',
    { position: complete(ago(900)), historyRefreshDays: 0 },
    undefined,
  ],
  [
    'no such days if the window begins with the start',
    { position: complete(null), start: '2025-01-01' },
    undefined,
  ],
  [
    'no such days of a stream without days',
    { position: complete(null, null), start: null },
    undefined,
  ],
  [
    'no such days if that was tried an hour ago',
    { position: complete(null), comparedAt: ago(1 / 24) },
    undefined,
  ],
])('compares %s', (_, facts, expected) => {
  const all = { ...FACTS, ...facts }
  expect(nextComparison(all, all, NOW)).toBe(expected)
})

it.each<[string, Parameters<typeof isListDue>[0], boolean, boolean]>([
  ['a delta without a row', read({ rowsSoFar: 0 }), false, true],
  ['a delta with rows', read({ rowsSoFar: 1 }), false, false],
  ['a delta whose rows may have moved', read({ rowsSoFar: 1, isListDue: true }), false, true],
  ['a delta that was empty at an earlier sync', read({ isSettled: true }), false, false],
  [
    'a list without a row, which is compared with the one before',
    read({ rowsSoFar: 0 }),
    true,
    false,
  ],
  ['a full refresh without a row', read({ mode: 'full_refresh', rowsSoFar: 0 }), true, true],
  [
    'a list that has failed, a day later',
    read({ isSettled: true, isListDue: true, comparedAt: ago(1) }),
    false,
    true,
  ],
  [
    'a list that has failed, not an hour later',
    read({ isSettled: true, isListDue: true, comparedAt: ago(1 / 24) }),
    false,
    false,
  ],
  [
    'a new read whose rows may have moved, an hour after a list has failed',
    read({ rowsSoFar: 1, isListDue: true, comparedAt: ago(1 / 24) }),
    false,
    true,
  ],
])('lists again after %s: %#', (_, state, isListed, expected) => {
  const position: Position = isListed ? { phase: 'complete', next: 'list' } : state.position
  expect(isListDue({ ...state, position }, NOW)).toBe(expected)
})

function read(more: Partial<Parameters<typeof isListDue>[0]>): Parameters<typeof isListDue>[0] {
  return {
    mode: 'incremental',
    position: complete(null),
    isListDue: false,
    isSettled: false,
    rowsSoFar: null,
    comparedAt: null,
    ...more,
  }
}
