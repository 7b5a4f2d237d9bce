import { describe, expect, it } from 'vitest'
import { DELETE, SKIP, UPSERT } from '../records/record-batch.ts'
import type { LiveKeys, OtherRows } from './live-keys.ts'
import { batch } from './testing/batch.ts'
import { liveKeys } from './testing/live-keys.ts'

/**
 * Keys in the middle of a complete read: 1 is found, 2 is found but unconfirmed, 3 is not found, 4 was on a page that was
 * interrupted, and 5 was unconfirmed before the read, which has not found it. 6 is unknown.
 */
function keysOfRead(): LiveKeys {
  const keys = liveKeys()
  keys.observe(batch(...[1, 2, 3, 5].map((id) => ({ id }))), 'window')
  keys.leaveUnconfirmed([5])
  keys.beginReading()
  keys.observe(batch({ id: 1 }, { id: 2 }), 'window')
  keys.leaveUnconfirmed([2])
  keys.observe(batch({ id: 4 }), 'window', { mayRepeat: true })
  keys.pageInterrupted()
  return keys
}

const ALL = [1, 2, 3, 4, 5, 6]

describe('of the rows of a read', () => {
  it('those are looked for that were not found, are in doubt, or are unconfirmed', () => {
    expect(ALL.filter(keysOfRead().isLookedFor)).toEqual([2, 3, 4, 5])
  })

  it('those are sought again that an earlier sync had not found', () => {
    expect(keysOfRead().soughtAgain()).toEqual([5])
  })

  it('all that are known may be in the warehouse, found or not', () => {
    expect(ALL.filter(keysOfRead().mayBeWritten)).toEqual([1, 2, 3, 4, 5])
  })

  it('those may have been met that were found, or are marked as deleted', () => {
    const keys = keysOfRead()
    keys.observe(batch({ id: 6, kind: DELETE }), 'window')
    expect(ALL.filter(keys.mayHaveMet)).toEqual([1, 2, 4, 6])
  })

  it('any may be in the warehouse, or have been met, if the keys are not tracked', () => {
    const keys = keysOfRead()
    const untracked = liveKeys({ ...keys.encode(), isTracked: false })
    expect(ALL.filter(untracked.mayBeWritten)).toEqual(ALL)
    expect(ALL.filter(untracked.mayHaveMet)).toEqual(ALL)
  })

  it.each<[OtherRows | undefined, number[]]>([
    [undefined, [2, 3, 5, 6]],
    ['written', [2, 3, 5, 6]],
    ['in question', [2, 3, 5, 6]],
    ['skipped', [2, 3, 5]],
  ])(
    'a recheck writes those that were not written or are unconfirmed, and others if they are %s',
    (others, expected) => {
      const rows = batch(...ALL.map((id) => ({ id })))
      keysOfRead().skipFound(rows, others)
      expect(ALL.filter((_, i) => rows.ops[i] === UPSERT)).toEqual(expected)
    },
  )
})

describe('a row that only a recheck has', () => {
  /** The unconfirmed rows of the state after a recheck that has had row 6. */
  function unconfirmedAfter(others: OtherRows, op: number, after = (_: LiveKeys) => {}) {
    const keys = keysOfRead()
    const rows = batch({ id: 6, kind: op })
    keys.skipFound(rows, others)
    keys.observe(rows, 'window')
    after(keys)
    const next = liveKeys(keys.encode())
    return next.unconfirmed()
  }

  it.each<[string, OtherRows, number, number[]]>([
    ['is left to the next sync if it is in question', 'in question', UPSERT, [2, 6]],
    ['is not if it is written', 'written', UPSERT, [2]],
    ['is not if it only says that its row exists', 'in question', SKIP, [2]],
  ])('%s', (_, others, op, expected) => {
    expect(unconfirmedAfter(others, op)).toEqual(expected)
  })

  it('is not if a change confirms it', () => {
    const confirm = (keys: LiveKeys) =>
      void keys.observe(batch({ id: 6 }), 'window', { isChange: true })
    expect(unconfirmedAfter('in question', UPSERT, confirm)).toEqual([2])
  })
})

it('a row from before the window does not count as missing if the delta has reported its deletion', () => {
  const keys = liveKeys()
  keys.observe(batch({ id: 1 }, { id: 2 }, { id: 3 }), 'history')
  const changes = batch({ id: 1, kind: DELETE }, { id: 2, kind: DELETE })
  keys.observe(changes, 'window', { isChange: true })
  // The second one still exists.
  keys.markGone([1, 3])
  expect(keys.counts('unseen')).toEqual(new Map([['', 1]]))
  expect(keys.counts('all')).toEqual(new Map([['', 3]]))
})
