import { describe, expect, it } from 'vitest'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { createIdBudget } from './id-budget.ts'
import { charactersOf, createLiveKeys, type LiveKeys } from './live-keys.ts'
import { scattered } from './testing/scattered.ts'

interface Item {
  readonly id: number | string
  readonly version?: string
  readonly kind?: number
}

/** A batch as the scanner gives it, of the facts that the keys are taken from. */
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
    record: () => new Uint8Array(),
    received: () => new Uint8Array(),
    lines: () => new Uint8Array(),
  }
}

function liveKeys(
  stored?: ReturnType<LiveKeys['encode']>,
  ids = createIdBudget(new Map([['people', 0]])),
): LiveKeys {
  return createLiveKeys(stored, { stream: 'people', ids })
}

/** What would be deleted. */
function deletes(keys: LiveKeys): unknown[] {
  return [...keys.gone()]
}

function living(keys: LiveKeys): unknown[] {
  return [...keys.living()].flatMap((some) => [...some])
}

describe('live keys', () => {
  it('deletes what a complete reading does not meet', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'C' }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1, version: 'X' }), 'window')
    expect(deletes(keys)).toEqual([2])
  })

  it('keeps a row that came back while the reading ran', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 5, version: 'B' }), 'window')
    keys.observe(batch({ id: 1, version: 'C' }), 'window')
    expect(deletes(keys)).toEqual([])
  })

  it('deletes rows of a page that broke and did not come again', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'window', true)
    keys.pageInterrupted()
    keys.observe(batch({ id: 2, version: 'D' }), 'window')
    expect(deletes(keys)).toEqual([1])
  })

  it('says of a page that is not complete that its rows are in doubt, should this be the end', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'window', true)
    const inMidPage = liveKeys(keys.encode())
    inMidPage.observe(batch({ id: 2, version: 'D' }), 'window')
    expect(deletes(inMidPage)).toEqual([1])
    keys.pageEnded()
    expect(deletes(liveKeys(keys.encode()))).toEqual([])
  })

  it('counts no row among the living that it has deleted because its page broke off, also later', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }, { id: 2, version: 'D' }), 'window', true)
    keys.pageInterrupted()
    keys.observe(batch({ id: 2, version: 'D' }), 'window')
    expect(living(keys)).toEqual([2])
    keys.commitDeletes()
    expect(living(liveKeys(keys.encode()))).toEqual([2])
  })

  it('counts no row of a full refresh among the living that is marked as deleted', () => {
    const keys = liveKeys()
    keys.leaveOutSent(batch({ id: 1 }, { id: 2, kind: SOFT_DELETE }))
    expect(living(keys)).toEqual([1])
  })

  it('leaves out of a full refresh the row with which a page ended and the next one begins', () => {
    const keys = liveKeys()
    keys.leaveOutSent(batch({ id: 1 }, { id: 2 }))
    const next = batch({ id: 2 }, { id: 3 })
    keys.leaveOutSent(next)
    expect([...next.ops]).toEqual([SKIP, UPSERT])
  })

  it('keeps the highest version that it has met', () => {
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

  it('takes a record that is to be skipped for a sign that its row is there, and no more', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1, kind: SKIP }), 'window')
    expect(deletes(keys)).toEqual([2])
    keys.beginReading()
    expect(deletes(keys)).toEqual([2])
  })

  it('does not hand over a Delete of a row of the history, and doubts the history instead', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'backfill')
    const answer = batch({ id: 1, version: 'B', kind: DELETE })
    keys.observe(answer, 'window')
    expect([...answer.ops]).toEqual([SKIP])
    expect(keys.isBackfillInDoubt).toBe(true)
    keys.beginBackfill()
    expect(deletes(keys)).toEqual([1])
  })

  it('deletes nothing of a broken page while the history is in doubt', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }), 'backfill')
    keys.observe(batch({ id: 2 }), 'window', true)
    keys.pageInterrupted()
    keys.observe(batch({ id: 1, kind: DELETE }), 'window')
    expect([keys.goneCount, deletes(keys)]).toEqual([0, []])
    keys.beginBackfill()
    keys.observe(batch({ id: 1 }), 'backfill')
    expect([keys.goneCount, deletes(keys)]).toEqual([1, [2]])
  })

  it('doubts the history when a change puts a row of it into the window', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'B' }), 'backfill')
    keys.observe(batch({ id: 1, version: 'A' }), () => 'window')
    expect(keys.isBackfillInDoubt).toBe(true)
    keys.beginBackfill()
    expect(deletes(keys)).toEqual([])
  })

  it('takes a row that moved from the history into the window for live', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'backfill')
    keys.observe(batch({ id: 1, version: 'B' }), 'window')
    keys.beginBackfill()
    expect(deletes(keys)).toEqual([])
  })

  it('leaves out of a second look what was met, and what it was told is gone', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1 }, { id: 2 }, { id: 3 }), 'window')
    keys.beginReading()
    keys.observe(batch({ id: 1 }), 'window')
    keys.observe(batch({ id: 2, kind: DELETE }), 'window')
    const second = batch({ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 })
    keys.leaveOutMet(second)
    expect([...second.ops]).toEqual([SKIP, SKIP, UPSERT, UPSERT])
    keys.observe(second, 'window')
    expect(deletes(keys)).toEqual([])
    expect(keys.someMet()).toBe(1)
  })

  it('does not take a softly deleted row for live', () => {
    const keys = liveKeys()
    keys.observe(batch({ id: 1, version: 'A' }), 'window')
    keys.observe(batch({ id: 1, version: 'B', kind: SOFT_DELETE }), 'window')
    keys.beginReading()
    expect(deletes(keys)).toEqual([])
  })

  it('adds what an interrupted reading had met to what the next one must meet', () => {
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

  it('gives up its sets when they outgrow the bookmark', () => {
    const keys = liveKeys(undefined, { take: (_stream, characters) => characters < 3000 })
    const ids = Array.from({ length: 1000 }, (_, i) => ({ id: scattered(i, 2 ** 32) }))
    keys.observe(batch(...ids), 'window')
    expect(keys.encode()).toMatchObject({ isTracked: false, window: null })
    expect(keys.isTracked).toBe(false)
    expect(deletes(keys)).toEqual([])
  })
})

describe('the room that the state has for ids', () => {
  it('is shared by need: one stream may take nearly all of it', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 0],
      ]),
    )
    expect(budget.take('clockings', 1_700_000)).toBe(true)
    expect(budget.take('people', 20_000)).toBe(true)
  })

  it('stays below 2 MB together, whoever asks', () => {
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

  it('has a part for each stream that the others cannot take', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 1_780_000],
      ]),
    )
    expect(budget.take('people', 20_001)).toBe(false)
    expect(budget.take('people', 20_000)).toBe(true)
  })

  it('is smaller by the states of streams that are not read, which the platform keeps', () => {
    const budget = createIdBudget(new Map([['people', 0]]), 1_500_000)
    expect(budget.take('people', 500_000)).toBe(false)
    expect(budget.take('people', 300_000)).toBe(true)
  })

  it('leaves room for the bookmarks themselves where those states take nearly all', () => {
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

describe('a reading in the middle', () => {
  it('has room for the ids that had it at rest, and is told as one that begins', () => {
    const all = [...new Set(Array.from({ length: 12_000 }, (_, i) => scattered(i, 2 ** 31)))]
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
