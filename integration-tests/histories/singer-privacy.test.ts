import { it } from 'vitest'
import { checkPrivacyHistories } from './privacy/run.ts'
import { DAY_MS } from './property.ts'

it('no record, state, log or metric of Singer has a value that the current settings leave out', {
  timeout: DAY_MS,
}, async () => {
  await checkPrivacyHistories('singer', 2)
})
