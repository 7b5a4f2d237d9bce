import { describe, expect, it } from 'vitest'
import { createIdBudget } from './live-keys.ts'

describe('the room that the state has for ids', () => {
  it('is shared by need: one stream may take nearly all of it', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 0],
      ]),
    )
    expect(budget.take('clockings', 1_800_000)).toBe(true)
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
        ['clockings', 1_880_000],
      ]),
    )
    expect(budget.take('people', 20_001)).toBe(false)
    expect(budget.take('people', 20_000)).toBe(true)
  })

  it('is free again when a stream needs less', () => {
    const budget = createIdBudget(
      new Map([
        ['people', 0],
        ['clockings', 1_880_000],
      ]),
    )
    budget.take('clockings', 1000)
    expect(budget.take('people', 1_000_000)).toBe(true)
  })
})
