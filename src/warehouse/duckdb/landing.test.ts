import { expect, it } from 'vitest'
import { failureOf } from './landing.ts'

it('advises to drop an index of somebody else that DuckDB has damaged', () => {
  const { error, isOfAll } = failureOf(
    new Error('FATAL Error: Invalid Input Error: Failed to delete all rows from index. Only'),
  )
  expect([error.failure, isOfAll]).toEqual(['config', true])
  expect(error.message).toContain('an index that you have added to a table is damaged. Drop it')
})
