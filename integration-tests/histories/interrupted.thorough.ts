import { describe, it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

const timeout = DAY_MS

describe('in-process', () => {
  it('any history of syncs that are cut off ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('interrupted', 'in-process', 6)
  })
})

describe('executable', () => {
  it('any history of processes that are killed ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('interrupted', 'executable', 3)
  })
})
