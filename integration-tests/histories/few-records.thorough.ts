import { describe, it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

const timeout = DAY_MS

describe('in-process', () => {
  it('any history of a few records ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('few-records', 'in-process', 6)
  })
})

describe('executable', () => {
  it('any history of a few records, synced by processes, ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('few-records', 'executable', 3)
  })
})
