import { it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

it('any history ends with a warehouse that equals the service', { timeout: DAY_MS }, async () => {
  await checkHistories('anything', 'in-process', 8)
})
