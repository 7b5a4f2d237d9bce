import { describe, expect, it } from 'vitest'
import { DELETE, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import type { LiveKeys } from './live-keys.ts'
import type { PlaceOf } from './observed-batch.ts'
import { type BatchItem, batch } from './testing/batch.ts'
import { liveKeys } from './testing/live-keys.ts'

/** The rows that would be deleted. */
function deletes(keys: LiveKeys): unknown[] {
  return [...keys.gone()]
}

function living(keys: LiveKeys): unknown[] {
  return [...keys.living()].flatMap((some) => [...some])
}

describe('live keys', () => {
  it('deletes rows that a complete read does not find', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'C' }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1, version: 'X' }), 'window')
    expect(deletes(keys)).toEqual([2])
  })

  it('keeps a row that came back during the read', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 5, version: 'B' }), 'window')
    keys.observe(batch({ id: 1, version: 'C' }), 'window')
    expect(deletes(keys)).toEqual([])
  })

  it('deletes rows of an interrupted page that did not come again', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'window', {
      mayRepeat: true,
    })
    keys.pageInterrupted()
    keys.observe(batch({ id: 2, version: 'D' }), 'window')
    expect(deletes(keys)).toEqual([1])
  })

  it('encodes the rows of an incomplete page as doubtful, in case the process ends now', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'window', {
      mayRepeat: true,
    })
    const inMidPage = liveKeys(keys.encode())
    inMidPage.observe(batch({ id: 2, version: 'D' }), 'window')
    expect(deletes(inMidPage)).toEqual([1])
    keys.pageEnded()
    expect(deletes(liveKeys(keys.encode()))).toEqual([])
  })

  it('never counts a row among the living that was deleted because its page was interrupted', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'window', {
      mayRepeat: true,
    })
    keys.pageInterrupted()
    keys.observe(batch({ id: 2, version: 'D' }), 'window')
    expect(living(keys)).toEqual([2])
    expect([1, 2, 3].filter(keys.has)).toEqual([2])
    keys.commitDeletes()
    expect([living(liveKeys(keys.encode())), deletes(keys)]).toEqual([[2], []])
  })

  it('does not count rows of a full refresh among the living that are marked as deleted', () => {
    const keys = liveKeys()
    keys.skipSent(batch({ id: 1 }, { id: 2, kind: SOFT_DELETE }))
    expect(living(keys)).toEqual([1])
  })

  it('leaves out of a full refresh the row with which a page ended and the next one begins', () => {
    const keys = liveKeys()
    keys.skipSent(batch({ id: 1 }, { id: 2 }))
    const next = batch({ id: 2 }, { id: 3 })
    keys.skipSent(next)
    expect([...next.ops]).toEqual([SKIP, UPSERT])
    // As does a process that goes on.
    const further = batch({ id: 3 }, { id: 4 })
    liveKeys(keys.encode()).skipSent(further)
    expect([...further.ops]).toEqual([SKIP, UPSERT])
  })

  it('leaves nothing out of the next full refresh', () => {
    const keys = liveKeys()
    keys.skipSent(batch({ id: 1 }))
    keys.forgetSent()
    const again = batch({ id: 1 })
    keys.skipSent(again)
    expect([...again.ops]).toEqual([UPSERT])
  })

  it('keeps the highest version so far', () => {
    const keys = liveKeys()
    for (const version of ['A', 'C', 'B']) keys.observe(batch({ id: 1, version }), 'window')
    keys.observe(batch({ id: 1 }), 'window')
    expect([keys.highestVersion, liveKeys(keys.encode()).highestVersion]).toEqual(['C', 'C'])
    keys.skipSent(batch({ id: 1, version: 'D' }))
    expect(keys.highestVersion).toBe('D')
  })

  it('keeps the rows of a part that could not be listed', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'B' }), 'window')
    keys.beginReading()
    expect(keys.keepUnseen('window', (key) => key === 1)).toBe(1)
    expect(deletes(keys)).toEqual([2])
    keys.beginReading()
    expect(deletes(keys)).toContain(1)
    expect([keys.keepUnseen('history'), deletes(keys), living(keys)]).toEqual([2, [], [1, 2]])
  })

  it('treats a skipped record only as a sign that its row exists', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1, kind: SKIP }), 'window')
    expect(deletes(keys)).toEqual([2])
    keys.beginReading()
    expect(deletes(keys)).toEqual([2])
  })

  it.each([
    ['a Delete of a row from before the window', { kind: DELETE }, 'window', [SKIP]],
    ['a change that puts such a row into the window', { version: 'A' }, 'window', [UPSERT]],
  ] as const)('leaves a row unconfirmed after %s', (_, change, place, ops) => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'B' }, { id: 2, version: 'B' }), 'history')
    const answer = batch({ id: 1, ...change })
    keys.observe(answer, () => place, { isChange: true })
    expect([...answer.ops]).toEqual(ops)
    expect([keys.unconfirmed(), deletes(keys)]).toEqual([[1], []])
    expect(liveKeys(keys.encode()).unconfirmed()).toEqual([1])
    keys.markGone([1])
    expect([deletes(keys), living(keys)]).toEqual([[1], [2]])
    expect(liveKeys(keys.encode()).soughtAgain()).toEqual([1])
  })

  it.each([
    ['few rows', 100, 100],
    ['no rows if they are many: then the list is the newer answer', 101, 0],
  ])(
    'leaves unconfirmed that a list has before the window and the delta in it: %s',
    (_, count, left) => {
      const rows = batch(...Array.from({ length: count }, (_row, i) => ({ id: i + 1 })))
      for (const place of ['history', () => 'history'] as PlaceOf[]) {
        const keys = liveKeys()
        keys.observe(rows, 'window')
        keys.observe(rows, place)
        expect(keys.unconfirmed()).toHaveLength(left)
      }
    },
  )

  it('confirms a row that another answer has', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }), 'window')
    keys.leaveUnconfirmed([1])
    keys.observe(batch({ id: 1 }), 'window')
    expect(keys.unconfirmed()).toEqual([])
  })

  it('keeps rows for which nobody could look, unconfirmed', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 2 }), 'window')
    keys.keepGone()
    expect([deletes(keys), keys.unconfirmed(), living(keys)]).toEqual([[], [1], [1, 2]])
  })

  it('keeps such rows of an interrupted page where they were', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }), 'history', { mayRepeat: true })
    keys.pageInterrupted()
    keys.keepGone()
    expect([living(keys), keys.unconfirmed()]).toEqual([[1], [1]])
  })

  it('counts the rows of a page that was interrupted among the missing ones', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }), 'window', { mayRepeat: true })
    keys.pageInterrupted()
    keys.observe(batch({ id: 2 }), 'window')
    expect(keys.counts('unseen')).toEqual(new Map([['', 1]]))
    expect(keys.counts('all')).toEqual(new Map([['', 2]]))
  })

  it('notices a row that was met on an earlier page, unless that page was interrupted', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }), 'window', { mayRepeat: true })
    expect(keys.hasMet(batch({ id: 3 }, { id: 2 }))).toBe(true)
    keys.pageInterrupted()
    expect(keys.hasMet(batch({ id: 3 }, { id: 2 }))).toBe(false)
  })

  it('leaves the rows unconfirmed that a comparison with lists has neither found nor seen change', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }, { id: 3 }), 'window')
    keys.observe(batch({ id: 4 }, { id: 5 }), 'history')
    keys.leaveUnconfirmed([5])
    keys.seek()
    keys.markFound(batch({ id: 1 }, { id: 5 }))
    keys.observe(batch({ id: 2 }), 'window', { isChange: true })
    expect(liveKeys(keys.encode()).unconfirmed()).toEqual([5])
    expect([...keys.endSeek()].toSorted()).toEqual([3, 4])
    expect(keys.unconfirmed().toSorted()).toEqual([3, 4, 5])
  })

  it('compares rows whose keys are no integers, and leaves out those that are deleted meanwhile', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 'a' }, { id: 'b' }, { id: 3 }), 'window')
    keys.seek()
    keys.markFound(batch({ id: 'a' }))
    keys.markGone([3])
    expect(keys.endSeek()).toEqual(['"b"'])
  })

  it('leaves rows that only a recheck has had to the next sync in each state, unless they are many', () => {
    const keys = liveKeys()
    const look = (...items: readonly BatchItem[]) => {
      const second = batch(...items)
      keys.skipFound(second, 'in question')
      keys.observe(second, 'window')
    }
    keys.observe(batch({ id: 1 }), 'window')
    look({ id: 1 }, { id: 2 })
    expect(keys.unconfirmed()).toEqual([])
    expect(liveKeys(keys.encode()).unconfirmed()).toEqual([2])
    look(...Array.from({ length: 100 }, (_, i) => ({ id: 3 + i })))
    expect(liveKeys(keys.encode()).unconfirmed()).toEqual([])
  })

  it('looks only for rows from before the window in the lists of those days, whatever others have failed', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }), 'window')
    keys.observe(batch({ id: 2 }), 'history')
    keys.seek()
    // These lists have failed.
    keys.seek('history')
    keys.endSeek()
    expect(keys.unconfirmed()).toEqual([2])
  })

  it('knows which rows were written since the last audit', () => {
    const keys = liveKeys()
    keys.noteWritten(batch({ id: 1 }, { id: 2 }))
    keys.noteWritten(batch({ id: 'a' }, { id: 3, kind: SKIP }))
    const written = () => [1, 2, 3, '"a"'].filter(keys.wasWritten)
    expect(written()).toEqual([1, 2, '"a"'])
    keys.forgetWritten([1])
    expect(written()).toEqual([2, '"a"'])
    keys.forgetWritten()
    expect(written()).toEqual([])
  })

  it('counts the rows of each part: those that were not found, and all', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }, { id: 13 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1 }), 'window')
    keys.observe(batch({ id: 14 }), 'history')
    const partOf = (key: unknown) => (Number(key) > 10 ? 'late' : 'early')
    expect([...keys.counts('unseen', partOf)]).toEqual([
      ['early', 1],
      ['late', 1],
    ])
    expect([...keys.counts('all', partOf)]).toEqual([
      ['early', 2],
      ['late', 2],
    ])
    expect([...keys.counts('unseen'), ...keys.counts('all')]).toEqual([
      ['', 2],
      ['', 4],
    ])
  })

  it('counts the known rows that a delta reports as deleted', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }), 'window')
    const gone = batch(...[1, 2, 3].map((id) => ({ id, kind: DELETE })))
    keys.observe(gone, 'window', { isChange: true })
    expect(keys.reportedCount).toBe(2)
  })

  it('counts rows of an interrupted page among those to delete', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 2 }), 'window', { mayRepeat: true })
    keys.pageInterrupted()
    expect(deletes(keys)).toEqual([1, 2])
  })

  describe('whose day is no longer kept', () => {
    /** Row 1 is not found, 2 in doubt, 3 in the window, 4 before it; the window has 5, too, which is unconfirmed. */
    function each(): LiveKeys {
      const keys = liveKeys()
      keys.observe(batch({ id: 1 }), 'window')
      keys.beginReading()
      keys.observe(batch({ id: 2 }), 'window', { mayRepeat: true })
      keys.pageInterrupted()
      keys.observe(batch({ id: 3 }, { id: 5 }), 'window')
      keys.observe(batch({ id: 4 }), 'history')
      keys.leaveUnconfirmed([5])
      keys.skipFound(batch({ id: 5 }), 'in question')
      keys.noteWritten(batch({ id: 5 }))
      return keys
    }

    it('leave wherever they are, and unknown ones, but once', () => {
      const keys = each()
      expect(keys.leave([1, 2, 3, 4, 5, 6, 6])).toEqual([1, 2, 3, 4, 5, 6])
      expect(keys.leave([1, 6])).toEqual([])
      expect([living(keys), deletes(keys), keys.unconfirmed(), keys.wasWritten(5)]).toEqual([
        [],
        [],
        [],
        false,
      ])
      expect(liveKeys(keys.encode()).unconfirmed()).toEqual([])
    })

    it('leave with all others from before the window', () => {
      const keys = each()
      expect(keys.leave('history')).toEqual([4])
      expect([living(keys), deletes(keys)]).toEqual([
        [3, 5],
        [1, 2],
      ])
    })
  })

  it('leaves rows out of a recheck that were found, or reported as deleted', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }, { id: 3 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1 }), 'window')
    keys.observe(batch({ id: 2, kind: DELETE }), 'window')
    const second = batch({ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 })
    keys.skipFound(second)
    expect([...second.ops]).toEqual([SKIP, SKIP, UPSERT, UPSERT])
    keys.observe(second, 'window')
    expect(deletes(keys)).toEqual([])
    expect(keys.someFound()).toBe(1)
  })

  it('knows a row that was found, by an integer, and is confirmed', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 'a' }, { id: 1 }), 'window')
    keys.leaveUnconfirmed([1])
    expect(keys.someFound()).toBeUndefined()
    keys.observe(batch({ id: 2 }), 'history', { mayRepeat: true })
    keys.pageInterrupted()
    expect(keys.someFound()).toBeUndefined()
    keys.observe(batch({ id: 3 }), 'history')
    expect(keys.someFound()).toBe(3)
  })

  it('does not count a soft-deleted row among the living', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'window')
    keys.observe(batch({ id: 1, version: 'B', kind: SOFT_DELETE }), 'window')
    keys.beginReading()
    expect(deletes(keys)).toEqual([])
  })

  it('expects the next read to find the rows that an interrupted one had found', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 2, version: 'B' }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 3, version: 'C' }), 'window')
    expect(deletes(keys)).toEqual([1, 2])
  })

  it('continues from its encoding', () => {
    const first = liveKeys()
    first.observe(batch({ id: 1, version: 'A' }, { id: 'guid', version: 'B' }), 'window')
    first.beginReading()
    const second = liveKeys(first.encode())
    second.observe(batch({ id: 1, version: 'C' }), 'window')
    expect(deletes(second)).toEqual(['"guid"'])
  })
})
