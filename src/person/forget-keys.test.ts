import { expect, it } from 'vitest'
import { createIdSet, type Key } from '../rows/id-set.ts'
import { readSets } from '../rows/stored-keys.ts'
import { FRESH, readState, writeState } from '../sync/stored-state.ts'
import { withoutKeys } from './forget-keys.ts'

const REFERENCE = '["people","hr","a.person"]'

function encoded(...keys: Key[]): string | null {
  const set = createIdSet()
  for (const key of keys) set.add(key)
  return set.encode()
}

const stored = writeState(
  {
    ...FRESH,
    isSettled: true,
    auditedParts: new Map([['all', 'a fingerprint']]),
    latestChanges: new Map<Key, { version: string | null; day: null }>([
      [REFERENCE, { version: null, day: null }],
      [7, { version: '0A', day: null }],
    ]),
    position: { phase: 'complete', next: 'list' },
  },
  {
    highestVersion: '0A',
    isTracked: true,
    window: encoded(5, 6, REFERENCE),
    history: encoded(7, 8),
    pending: [{ keys: String(encoded(9, 10)), isUnseen: true }],
    unconfirmed: encoded(5, REFERENCE),
    written: encoded(6, 8),
  },
)

it('a state without the keys of a person has them in no set, and knows no audit that has seen them', () => {
  const state = readState(withoutKeys(stored, [5, 8, 9, REFERENCE]))
  if (state === 'none' || 'unreadable' in state) throw new Error('it cannot be read')
  const { window, history, unseen, unconfirmed, written } = readSets(state.keys)
  const left = [window, history, unseen, unconfirmed, written].map((set) => [...set.keys()])
  expect(left).toEqual([[6], [7], [10], [], [6]])
  expect([...state.latestChanges]).toEqual([[7, { version: '0A', day: null }]])
  expect(state.auditedParts.size).toBe(0)
  expect({ ...state.keys, window: 0, history: 0, pending: 0, unconfirmed: 0, written: 0 }).toEqual({
    ...{ highestVersion: '0A', isTracked: true, window: 0, history: 0, pending: 0 },
    ...{ unconfirmed: 0, written: 0 },
  })
})

it('a state keeps the keys of earlier rows that are now those of others', () => {
  const before = readState(stored)
  const after = readState(withoutKeys(stored, [], [5, 8, 10, 11]))
  if (before === 'none' || 'unreadable' in before) throw new Error('it cannot be read')
  expect(after).toMatchObject({ keys: before.keys })
  const deleted = { ...before, latestChanges: new Map([[11, { version: null, day: null }]]) }
  const left = readState(withoutKeys(writeState(deleted, deleted.keys), [], [11]))
  expect(left).toMatchObject({ latestChanges: new Map() })
})

it.each([[{ bookmark_version: 1 }], [{ ...stored, window_ids: 'damaged' }], [{}]])(
  'a state that cannot be read is given up, so that the stream is read from the beginning',
  (state) => expect(withoutKeys(state, [5])).toBeUndefined(),
)
