import { it } from 'vitest'
import { checkPrivacyHistories } from './privacy/run.ts'
import { DAY_MS } from './property.ts'

it('no byte of a warehouse comes from a value that the current settings leave out', {
  timeout: DAY_MS,
}, async () => {
  await checkPrivacyHistories('warehouse', 2)
})
