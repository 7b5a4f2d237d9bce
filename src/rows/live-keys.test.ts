import { describe, expect, it } from 'vitest'
import { seeded } from '../page/testing/generated-body.ts'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { createLiveKeys, type LiveKeys } from './live-keys.ts'
import type { PlaceOf } from './observed-batch.ts'
import { charactersOf, createIdBudget } from './stored-keys.ts'

interface Item {
  readonly id: number | string
  readonly version?: string
  readonly kind?: number
}

/** A batch like those of the scanner, with the parts that the keys use. */
function batch(...items: readonly Item[]): RecordBatch {
  const versions = items.flatMap(({ version }) => (version === undefined ? [] : [version])).sort()
  return {
    count: items.length,
    ops: Uint8Array.from(items, ({ kind = UPSERT }) => kind),
    keys: Float64Array.from(items, ({ id }) => (typeof id === 'number' ? id : Number.NaN)),
    highestVersion: versions.at(-1),
    fault: null,
    keyText: (i) => JSON.stringify(items[i]?.id),
    versionText: (i) => items[i]?.version,
    dateText: () => undefined,
    record: () => new Uint8Array(),
    received: () => new Uint8Array(),
    lines: () => new Uint8Array(),
  }
}

function liveKeys(
  stored?: ReturnType<LiveKeys['encode']>,
  ids = createIdBudget(new Map([['people', 0]])),
): LiveKeys {
  return createLiveKeys(stored, 'people', ids)
}

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
    keys.commitDeletes()
    expect(living(liveKeys(keys.encode()))).toEqual([2])
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
  })

  it('keeps the highest version so far', () => {
    const keys = liveKeys()
    for (const version of ['A', 'C', 'B']) keys.observe(batch({ id: 1, version }), 'window')
    expect(keys.highestVersion).toBe('C')
  })

  it('keeps the rows of a part that could not be listed', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'B' }), 'window')
    keys.beginReading()
    expect(keys.keepUnseen('window', (key) => key === 1)).toBe(1)
    expect(deletes(keys)).toEqual([2])
    keys.beginReading()
    expect(deletes(keys)).toContain(1)
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
    keys.endSeek(true)
    expect(keys.unconfirmed().toSorted()).toEqual([3, 4, 5])
  })

  it('leaves rows that only a recheck has had to the next sync in each state, unless they are many', () => {
    const keys = liveKeys()
    const look = (...items: readonly Item[]) => {
      const second = batch(...items)
      keys.skipFound(second, true)
      keys.observe(second, 'window')
    }
    keys.observe(batch({ id: 1 }), 'window')
    look({ id: 1 }, { id: 2 })
    expect(keys.unconfirmed()).toEqual([])
    expect(liveKeys(keys.encode()).unconfirmed()).toEqual([2])
    look(...Array.from({ length: 100 }, (_, i) => ({ id: 3 + i })))
    expect(liveKeys(keys.encode()).unconfirmed()).toEqual([])
  })

  it('looks only for rows from before the window in the lists of those days, and for none if they failed', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }), 'window')
    keys.observe(batch({ id: 2 }), 'history')
    keys.seek('history')
    keys.endSeek(false)
    expect(keys.unconfirmed()).toEqual([])
    keys.seek('history')
    keys.endSeek(true)
    expect(keys.unconfirmed()).toEqual([2])
  })

  it('forgets what was written since the last audit before it gives up its sets', () => {
    let room = 3000
    const keys = liveKeys(undefined, { take: (_stream, characters) => characters < room })
    const random = seeded(1)
    const some = batch(...Array.from({ length: 500 }, () => ({ id: random(2 ** 32) })))
    keys.observe(some, 'window')
    room = keys.encode().window?.length ?? 0
    room += 10
    keys.noteWritten(some)
    expect([keys.encode().written, keys.isTracked, keys.isWrittenKnown]).toEqual([
      null,
      true,
      false,
    ])
  })

  it('leaves rows out of a recheck that were found, or reported as deleted', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }, { id: 3 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1 }), 'window')
    keys.observe(batch({ id: 2, kind: DELETE }), 'window')
    const second = batch({ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 })
    keys.skipFound(second, false)
    expect([...second.ops]).toEqual([SKIP, SKIP, UPSERT, UPSERT])
    keys.observe(second, 'window')
    expect(deletes(keys)).toEqual([])
    expect(keys.someFound()).toBe(1)
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

  it('gives up its sets when they no longer fit into the state', () => {
    const keys = liveKeys(undefined, { take: (_stream, characters) => characters < 3000 })
    const random = seeded(1)
    const ids = Array.from({ length: 1000 }, () => ({ id: random(2 ** 32) }))
    keys.observe(batch(...ids), 'window')
    expect(keys.encode()).toMatchObject({ isTracked: false, window: null })
    expect(keys.isTracked).toBe(false)
    expect(deletes(keys)).toEqual([])
  })
})

describe('the room that the state has for ids', () => {
  it('is shared as needed: one stream may use nearly all of it', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 0],
      ]),
    )
    expect(budget.take('clockings', 1_700_000)).toBe(true)
    expect(budget.take('people', 20_000)).toBe(true)
  })

  it('stays below 2 MB in total, whichever stream asks', () => {
    const streams = Array.from({ length: 32 }, (_, i) => `stream ${i}`)
    const budget = createIdBudget(new Map(streams.map((stream) => [stream, 0])))
    let taken = 0
    for (const [i, stream] of streams.entries()) {
      const size = 30_000 * (i + 1)
      if (budget.take(stream, size)) taken += size
    }
    expect(taken).toBeGreaterThan(1_000_000)
    expect(taken).toBeLessThan(2_000_000)
  })

  it('has a part for each stream that others cannot use', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 1_780_000],
      ]),
    )
    expect(budget.take('people', 20_001)).toBe(false)
    expect(budget.take('people', 20_000)).toBe(true)
  })

  it('is reduced by the states of streams that are not read, which the platform keeps', () => {
    const budget = createIdBudget(new Map([['people', 0]]), 1_500_000)
    expect(budget.take('people', 500_000)).toBe(false)
    expect(budget.take('people', 300_000)).toBe(true)
  })

  it('leaves room for the other fields of the states even if those states use nearly all', () => {
    const streams = ['people', 'clockings', 'jobs']
    const kept = 1_985_000
    const budget = createIdBudget(new Map(streams.map((stream) => [stream, 0])), kept)
    const taken = streams.map((stream) => {
      const sizes = Array.from({ length: 200 }, (_, i) => 20_000 - 100 * i)
      return sizes.find((size) => budget.take(stream, size)) ?? 0
    })
    expect(Math.min(...taken)).toBeGreaterThan(1000)
    expect(kept + taken.reduce((sum, size) => sum + size + 2000, 0)).toBeLessThanOrEqual(2_000_000)
  })

  it('is free again when a stream needs less', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 1_780_000],
      ]),
    )
    budget.take('clockings', 1000)
    expect(budget.take('people', 1_000_000)).toBe(true)
  })
})

describe('a read that is not complete', () => {
  it('has room for the ids that fit after a complete read, and is stored as one that begins', () => {
    const random = seeded(1)
    const all = [...new Set(Array.from({ length: 12_000 }, () => random(2 ** 31)))]
    const half = (part: number) =>
      batch(...all.filter((_, i) => i % 2 === part).map((id) => ({ id })))
    const atRest = liveKeys()
    atRest.observe(half(0), 'window')
    atRest.observe(half(1), 'window')
    const size = charactersOf(atRest.encode())
    const others = ['others', 1_800_000 - size] as const
    const keys = liveKeys(atRest.encode(), createIdBudget(new Map([['people', 0], others])))
    keys.beginReading()
    keys.observe(half(0), 'window')
    const stored = keys.encode()
    expect([keys.isTracked, stored.isAtBeginning]).toEqual([true, true])
    expect(charactersOf(stored)).toBe(size)
    expect(liveKeys(stored).goneCount).toBe(all.length)
    keys.observe(half(1), 'window')
    expect(deletes(keys)).toEqual([])
  })
})
