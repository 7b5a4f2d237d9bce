import { it } from 'vitest'
import { checkHistories, DAY_MS } from './property.ts'

it("any history ends with a target of Singer's that equals the service", {
  timeout: DAY_MS,
}, async () => {
  await checkHistories('anything', 'singer', 2)
})
