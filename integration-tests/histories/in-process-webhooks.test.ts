import fc from 'fast-check'
import { it } from 'vitest'
import { DAY_MS } from './property.ts'
import { runWebhookHistory } from './run-webhook-history.ts'
import { runSettings } from './settings.ts'
import { webhookHistories } from './webhook-history.ts'

it('any history of deliveries, renewals, kills and syncs ends with a warehouse that equals the service', {
  timeout: DAY_MS,
}, async () => {
  const { runs, path } = runSettings(20)
  await fc.assert(fc.asyncProperty(webhookHistories, runWebhookHistory), {
    numRuns: runs,
    ...(path === undefined ? {} : { path }),
  })
})
