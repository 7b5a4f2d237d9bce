import { it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

it('any history of syncs that are cut off ends with a warehouse that equals the service', {
  timeout: DAY_MS,
}, async () => {
  await checkHistories('interrupted', 'in-process', 6)
})
