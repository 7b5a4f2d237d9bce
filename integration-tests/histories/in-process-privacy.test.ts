import { it } from 'vitest'
import { checkPrivacyHistories } from './privacy/run.ts'
import { DAY_MS } from './property.ts'

it("no record, state, log or metric of Airbyte's has a value that the settings of the moment leave out", {
  timeout: DAY_MS,
}, async () => {
  await checkPrivacyHistories('in-process', 4)
})
