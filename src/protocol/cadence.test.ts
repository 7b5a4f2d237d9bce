import { describe, expect, it } from 'vitest'
import { createCadence } from './cadence.ts'

const PAGE = 300_000
const MEGABYTE = 1_000_000

describe('the cadence of checkpoints', () => {
  it('is every page while they are small', () => {
    const cadence = createCadence(() => 0)
    for (let page = 0; page < 100; page++) {
      cadence.wrote(PAGE)
      expect(cadence.isDue()).toBe(true)
      cadence.stated(1000)
    }
  })

  it('keeps checkpoints that grow with the records below a twentieth of them', () => {
    const cadence = createCadence(() => 0)
    let records = 0
    let states = 0
    for (let page = 0; page < 500; page++) {
      cadence.wrote(PAGE)
      records += PAGE
      if (!cadence.isDue()) continue
      // Three bytes of ids for a record of a hundred: worse than any service we know.
      const size = 700 + records * 0.03
      cadence.stated(size)
      states += size
    }
    expect(states).toBeGreaterThan(0)
    expect(states / records).toBeLessThan(0.05)
  })

  it('is a minute at the longest, whatever a checkpoint costs', () => {
    let now = 0
    const cadence = createCadence(() => now)
    cadence.stated(MEGABYTE)
    now = 59_999
    expect(cadence.isDue()).toBe(false)
    now = 60_000
    expect(cadence.isDue()).toBe(true)
  })

  it('affords small checkpoints that are not due, and large ones only as the records grow', () => {
    const cadence = createCadence(() => 0)
    for (let i = 0; i < 30; i++) {
      expect(cadence.isAffordable()).toBe(true)
      cadence.stated(20_000)
    }
    cadence.stated(MEGABYTE)
    expect(cadence.isAffordable()).toBe(false)
    cadence.wrote(200 * MEGABYTE)
    expect(cadence.isAffordable()).toBe(true)
  })
})
