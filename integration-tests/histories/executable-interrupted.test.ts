import { it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

it('any history of processes that are killed ends with a warehouse that equals the service', {
  timeout: DAY_MS,
}, async () => {
  await checkHistories('interrupted', 'executable', 3)
})
