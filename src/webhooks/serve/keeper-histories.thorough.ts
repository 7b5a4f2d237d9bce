import fc from 'fast-check'
import { expect, it } from 'vitest'
import { ClientError } from '../../client/client-error.ts'
import type { Keeper } from './keeper.ts'
import {
  COLLECTIONS,
  Crash,
  createFakeService,
  DAY,
  expectKept,
  type FakeWebhookService,
  HOUR,
  inState,
  MINUTE,
  type Mishap,
  PUBLIC_URL,
  start,
} from './testing/start-keeper.ts'

/** More at night. */
const { HISTORIES_SCALE = '1' } = process.env

it('the keeper deletes each webhook that it replaces also where the list shows none', async () => {
  const service = createFakeService()
  const { connect } = service
  service.connect = () => {
    const client = connect()
    return { ...client, webhooks: { ...client.webhooks, list: async function* () {} } }
  }
  const { keeper, store } = start(service)
  for (let hours = 0; hours < 4 * 24; hours++) {
    await keeper.round()
    service.now += HOUR
  }
  expectKept(service, store.hooks)
})

it('the keeper replaces a webhook that is gone also if the service refuses to delete it once more', async () => {
  const service = createFakeService()
  const { connect } = service
  service.connect = () => {
    const client = connect()
    const refusal = new ClientError('system', 'link-expired', 'It is gone.', { status: 410 })
    return { ...client, webhooks: { ...client.webhooks, remove: () => Promise.reject(refusal) } }
  }
  const { keeper, store } = start(service)
  await keeper.round()
  service.records.splice(0)
  service.now += 2 * HOUR
  await keeper.round()
  expectKept(service, store.hooks)
})

it('the keeper ends any history of crashes, lost responses and loss of webhooks with one usable webhook each', async () => {
  const happening = fc.oneof(
    { weight: 4, arbitrary: fc.constant('round' as const) },
    fc.constantFrom('disable', 'delete', 'uninitialize', 'refuse', 'allow', 'restart', 'shorten'),
    fc.constantFrom('move', 'answer 302', 'answer 400', 'answer 401', 'answer 409', 'answer'),
    fc.integer({ min: 1, max: 100 }),
  )
  const mishap = fc.oneof(
    { weight: 6, arbitrary: fc.constant<Mishap>(undefined) },
    fc.constantFrom<Mishap>('crash-before', 'crash-after', 'lost-before', 'lost-after'),
  )
  const history = fc.array(fc.record({ happening, mishaps: fc.array(mishap, { maxLength: 12 }) }), {
    maxLength: 25,
  })
  await fc.assert(fc.asyncProperty(history, play), { numRuns: 500 * Number(HISTORIES_SCALE) })
})

type Happening = string | number

/** Plays a history and then lets the keeper work undisturbed for some hours. */
async function play(
  history: readonly { happening: Happening; mishaps: Mishap[] }[],
): Promise<void> {
  const service = createFakeService()
  let publicUrl = PUBLIC_URL
  let process = start(service)
  service.onRemove = (record) => {
    // A usable webhook goes only when another one is there to take its place.
    const isKnown = inState(process.store.hooks, 'live').some(({ id }) => id === record.id)
    const isUsable =
      record.status === 'Enabled' && (record.validUntil?.getTime() ?? 0) > service.now
    const others = service.records.filter(
      ({ collectionName, status }) =>
        collectionName === record.collectionName && status === 'Enabled',
    )
    if (isKnown && isUsable) expect(others).not.toEqual([])
  }
  for (const { happening, mishaps } of history) {
    service.mishaps = [...mishaps]
    if (happening === 'round') await attempt(process.keeper)
    else if (happening === 'restart') process = start(service, { publicUrl })
    else if (happening === 'move') {
      publicUrl = publicUrl === PUBLIC_URL ? 'https://old.acme.example/path' : PUBLIC_URL
      process = start(service, { publicUrl })
    } else happen(happening, service)
  }
  service.mishaps = []
  service.refusing.clear()
  service.answersInstead = undefined
  process = start(service)
  service.status = 'Enabled'
  service.validityMs = 30 * DAY
  for (let rounds = 0; rounds < 3; rounds++) {
    service.now += HOUR + MINUTE
    await process.keeper.round()
  }
  expectKept(service, process.store.hooks)
  expect(service.records).toHaveLength(COLLECTIONS.length)
  expect(inState(process.store.hooks, 'creating')).toEqual([])
  for (const collection of COLLECTIONS) {
    const made = service.creations.filter((one) => one.collection === collection)
    for (const [i, { at, publicUrl }] of made.slice(1).entries())
      if (made[i]?.publicUrl === publicUrl)
        expect(at - (made[i]?.at ?? 0)).toBeGreaterThanOrEqual(HOUR)
  }

  async function attempt(keeper: Keeper): Promise<void> {
    try {
      await keeper.round()
    } catch (error) {
      if (error instanceof Crash) process = start(service, { publicUrl })
      else if (!(error instanceof ClientError)) throw error
    }
  }
}

function happen(happening: Happening, service: FakeWebhookService): void {
  const [record] = service.records
  if (typeof happening === 'number') service.now += happening * HOUR
  else if (happening === 'refuse') service.refusing.add('people')
  else if (happening === 'allow') service.refusing.clear()
  else if (happening.startsWith('answer'))
    service.answersInstead = happening === 'answer' ? undefined : Number(happening.split(' ')[1])
  else if (happening === 'shorten') service.validityMs = 10 * HOUR
  else if (record === undefined) return
  else if (happening === 'delete') service.records.shift()
  else record.status = happening === 'disable' ? 'Disabled' : 'Uninitialized'
}
