import { it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

it('any history of protime sync ends with a DuckDB file that equals the service', {
  timeout: DAY_MS,
}, async () => {
  await checkHistories('anything', 'duckdb', 2)
})
