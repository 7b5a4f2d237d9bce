import { describe, expect, it } from 'vitest'
import { createStateBudget } from './state.ts'

const SMALL = 4096
const PAGE = 300_000
const MEGABYTE = 1_000_000

describe('the budget of STATEs', () => {
  it('allows one for every page while they are small, however small the pages are', () => {
    const budget = createStateBudget(SMALL, () => 0)
    for (let page = 0; page < 100_000; page++) {
      budget.onRecords(100)
      expect(budget.allows()).toBe(true)
      budget.onState(SMALL)
    }
  })

  it('keeps STATEs that grow with the records below a sixtieth of them and a fixed part', () => {
    const budget = createStateBudget(SMALL, () => 0)
    let records = 0
    let states = 0
    for (let page = 0; page < 500; page++) {
      budget.onRecords(PAGE)
      records += PAGE
      if (!budget.allows()) continue
      // Three bytes of ids for a record of a hundred: worse than any service we know.
      const size = 700 + records * 0.03
      budget.onState(size)
      states += size
    }
    expect(states).toBeGreaterThan(MEGABYTE)
    expect(states).toBeLessThan(records / 60 + 768 * 1024 + MEGABYTE)
  })

  it('allows no more than 8 MB of large STATEs in any minute', () => {
    let now = 0
    const budget = createStateBudget(SMALL, () => now)
    const written: { now: number; bytes: number }[] = []
    for (; now < 300_000; now += 10) {
      budget.onRecords(100 * MEGABYTE)
      if (!budget.allows()) continue
      budget.onState(MEGABYTE)
      written.push({ now, bytes: MEGABYTE })
    }
    for (const { now: from } of written) {
      const minute = written.filter((state) => state.now >= from && state.now < from + 60_000)
      expect(minute.length).toBeLessThanOrEqual(8)
    }
    expect(written.length).toBe(40)
  })

  it('allows one after a minute, whatever it costs', () => {
    let now = 0
    const budget = createStateBudget(SMALL, () => now)
    budget.onState(2 * MEGABYTE)
    now = 59_999
    expect(budget.allows()).toBe(false)
    now = 60_000
    expect(budget.allows()).toBe(true)
  })
})
