import { describe, expect, it } from 'vitest'
import { seeded } from '../page/testing/generated-body.ts'
import { UPSERT } from '../records/record-batch.ts'
import type { LiveKeys } from './live-keys.ts'
import { charactersOf, createIdBudget } from './stored-keys.ts'
import { batch } from './testing/batch.ts'
import { liveKeys } from './testing/live-keys.ts'

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

describe('keys that need too much room', () => {
  const anyRoom = () => createIdBudget(new Map([['people', 0]]))
  const deletes = (keys: LiveKeys) => [...keys.gone()]

  it('forgets what was written since the last audit before it gives up its sets', () => {
    let room = 3000
    const keys = liveKeys(undefined, { take: (_stream, characters) => characters < room })
    expect(keys.isWrittenKnown).toBe(true)
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
    keys.forgetWritten()
    expect(keys.isWrittenKnown).toBe(true)
  })

  it('gives up its sets when they no longer fit into the state', () => {
    const keys = liveKeys(undefined, { take: (_stream, characters) => characters < 3000 })
    const random = seeded(1)
    const ids = Array.from({ length: 1000 }, () => ({ id: random(2 ** 32) }))
    keys.observe(batch(...ids), 'window')
    expect(keys.encode()).toMatchObject({ isTracked: false, window: null })
    expect(keys.isTracked).toBe(false)
    expect(deletes(keys)).toEqual([])
    // From then on, it knows of no row, so any may exist, or may have to be deleted.
    const rows = batch({ id: 1 })
    for (let i = 0; i < 2; i++) keys.skipSent(rows)
    keys.observe(rows, 'window')
    expect([...rows.ops, keys.encode().window]).toEqual([UPSERT, null])
    expect([keys.has(1), keys.mayHave(1), keys.leave([1])]).toEqual([false, true, [1]])
    expect([...keys.counts('unseen')]).toEqual([])
    keys.forgetSent()
    expect([keys.isTracked, keys.mayHave(1)]).toEqual([true, false])
  })

  it('gives up its sets at rest, although a read at its beginning would fit', () => {
    let room = Number.POSITIVE_INFINITY
    const keys = liveKeys(undefined, { take: (_stream, characters) => characters < room })
    const random = seeded(1)
    for (const place of ['window', 'history'] as const)
      keys.observe(batch(...Array.from({ length: 5000 }, () => ({ id: random(2 ** 31) }))), place)
    const begun = liveKeys(keys.encode(), anyRoom())
    begun.beginReading()
    room = charactersOf(keys.encode())
    expect(charactersOf(begun.encode())).toBeLessThan(room)
    expect(keys.encode()).toMatchObject({ isTracked: false, pending: [] })
  })

  it('has room for the ids that fit after a complete read, and is stored as one that begins', () => {
    const random = seeded(1)
    const all = [...new Set(Array.from({ length: 12_000 }, () => random(2 ** 31)))]
    const half = (part: number) =>
      batch(...all.filter((_, i) => i % 2 === part).map((id) => ({ id })))
    const atRest = liveKeys(undefined, anyRoom())
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
    expect(liveKeys(stored, anyRoom()).gone()).toHaveLength(all.length)
    keys.observe(half(1), 'window')
    expect(deletes(keys)).toEqual([])
  })
})
