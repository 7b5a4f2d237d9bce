import { describe, it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

const timeout = DAY_MS

describe('in-process', () => {
  it('any history ends with a warehouse that equals the service', { timeout }, async () => {
    await checkHistories('anything', 'in-process', 8)
  })
})

describe('executable', () => {
  it('any history of syncs in processes ends with a warehouse that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('anything', 'executable', 3)
  })
})

describe('singer', () => {
  it("any history ends with a target of Singer's that equals the service", {
    timeout,
  }, async () => {
    await checkHistories('anything', 'singer', 2)
  })
})

describe('duckdb', () => {
  it('any history of protime sync ends with a DuckDB file that equals the service', {
    timeout,
  }, async () => {
    await checkHistories('anything', 'duckdb', 2)
  })
})
