import { expect, it } from 'vitest'
import { createActivity, createKeeping, type Facts, healthPage, metricsPage } from './monitoring.ts'
import { IDLE } from './sync-scheduler.ts'

const HOUR = 3_600_000
const facts = (waitingMs: number): Facts => ({
  keeping: createKeeping([], []),
  schedule: IDLE,
  waitingMs,
  patienceMs: HOUR,
  activity: createActivity(),
  deliveries: new Map(),
})

it.each([
  [0, 200],
  [HOUR, 200],
  [HOUR + 1, 503],
])(
  'a change that has been waiting for %d ms of an hour makes the health %d',
  async (ms, status) => {
    const page = await healthPage(facts(ms))
    expect([page.status, JSON.parse(page.body)]).toMatchObject([
      status,
      { oldestWaitingSeconds: Math.round(ms / 1000) },
    ])
  },
)

it('the age of the oldest change is a metric', async () => {
  const { body } = await metricsPage(facts(90_500))
  expect(body).toMatch(/^# TYPE protime_webhook_oldest_waiting_seconds gauge$/m)
  expect(body).toMatch(/^protime_webhook_oldest_waiting_seconds 90\.5$/m)
  expect(body).toMatch(/^protime_webhook_deliveries_total\{code="401"\} 0$/m)
})
