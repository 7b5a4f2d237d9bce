import { describe, it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

const timeout = DAY_MS

describe('in-process', () => {
  it('any history of rows that change while they are read ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('edited', 'in-process', 6)
  })
})

describe('executable', () => {
  it('any history of rows that change while a process reads them ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('edited', 'executable', 3)
  })
})
