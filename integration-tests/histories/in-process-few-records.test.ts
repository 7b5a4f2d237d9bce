import { it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

it('any history of a few records ends with a warehouse that equals the service', {
  timeout: DAY_MS,
}, async () => {
  await checkHistories('few-records', 'in-process', 6)
})
