import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ClientError } from '../../client/client-error.ts'
import { createKeeper, type Keeper, unsubscribe } from './keeper.ts'
import { nonceOf, type StoredHook } from './store.ts'
import { Crash, createFakeService, type FakeService, type Mishap } from './testing/fake-service.ts'

const PUBLIC_URL = 'https://hooks.acme.example'
const COLLECTIONS = ['clockings', 'people']
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const quiet = { info: () => {}, warn: () => {}, debug: () => {} }

/** A keeper's process: after a crash another one takes over its store. */
function start(
  service: FakeService,
  { adopt = false, collections = COLLECTIONS, publicUrl = PUBLIC_URL } = {},
) {
  const store = service.openStore()
  const created: string[] = []
  const warnings: string[] = []
  const keeper = createKeeper({
    settings: { publicUrl, collections, adopt },
    store,
    connect: service.connect,
    onCreated(collection) {
      created.push(collection)
      service.creations.push({ collection, at: service.now })
    },
    log: { ...quiet, warn: (text) => warnings.push(text) },
    scopesOf: (collection) => ['connector-x-webhooks.write', `connector-x-${collection}.read`],
  })
  return { keeper, store, created, warnings }
}

const inState = (hooks: readonly StoredHook[], state: StoredHook['state']) =>
  hooks.filter((hook) => hook.state === state)

/** Fails unless the service has one usable webhook of each collection, whose key is in the store. */
function expectKept(
  service: FakeService,
  hooks: readonly StoredHook[],
  collections = COLLECTIONS,
): void {
  const ours = service.records.filter(({ destinationUrl }) => destinationUrl.startsWith(PUBLIC_URL))
  expect(ours.map(({ collectionName }) => collectionName).sort()).toEqual([...collections])
  for (const { status, validUntil, id, key, destinationUrl } of ours) {
    expect(status).toBe('Enabled')
    expect(validUntil?.getTime()).toBeGreaterThan(service.now)
    expect(hooks).toContainEqual(
      expect.objectContaining({ id, key, destinationUrl, state: 'live' }),
    )
  }
}

describe('the keeper', () => {
  it('makes one webhook per collection, each with an address of its own, and none at the next start', async () => {
    const service = createFakeService()
    const first = start(service)
    await first.keeper.round()
    expectKept(service, first.store.hooks)
    expect(first.created).toEqual(COLLECTIONS)
    const nonces = first.store.hooks.map(nonceOf)
    expect(new Set(nonces).size).toBe(2)
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/)

    const second = start(service)
    await second.keeper.round()
    expect(second.created).toEqual([])
    expect(service.creations).toHaveLength(2)
  })

  it('replaces one that expires within a quarter of its validity: the successor first', async () => {
    const service = createFakeService()
    service.validityMs = DAY
    const { keeper, store, created } = start(service)
    await keeper.round()
    service.now += 17 * HOUR
    await keeper.round()
    expect(created).toHaveLength(2)
    service.now += 2 * HOUR
    const alive: number[] = []
    service.onRemove = () => alive.push(service.records.length)
    await keeper.round()
    expect(created).toHaveLength(4)
    expect(alive).toEqual([3, 2])
    expectKept(service, store.hooks)
  })

  it('takes deliveries of a replaced one for 72 hours more', async () => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    for (const record of service.records) record.status = 'Disabled'
    service.now += 2 * HOUR
    await keeper.round()
    service.now += 71 * HOUR
    await keeper.round()
    expect(inState(store.hooks, 'retiring')).toHaveLength(2)
    service.now += 2 * HOUR
    await keeper.round()
    expect(inState(store.hooks, 'retiring')).toHaveLength(0)
    expectKept(service, store.hooks)
  })

  it('makes one per hour at most where each is disabled at once, and warns once per hour', async () => {
    const service = createFakeService()
    service.status = 'Disabled'
    const { keeper, warnings } = start(service, { collections: ['people'] })
    for (let minutes = 0; minutes < 240; minutes += 15) {
      await keeper.round()
      service.now += 15 * MINUTE
    }
    expect(service.creations).toHaveLength(4)
    expect(warnings.length).toBeLessThanOrEqual(4)
    expect(warnings[0]).toMatch(/^people: .*status is Disabled/)
  })

  it('waits ten minutes for one that is not initialized', async () => {
    const service = createFakeService()
    service.status = 'Uninitialized'
    const { keeper, store, warnings } = start(service)
    await keeper.round()
    service.now += 5 * MINUTE
    await keeper.round()
    expect(warnings).toContainEqual(expect.stringContaining('not initialized'))
    service.status = 'Enabled'
    service.now += HOUR
    await keeper.round()
    expectKept(service, store.hooks)
  })

  it('goes on without a collection that is refused, and says so', async () => {
    const service = createFakeService()
    service.refusing.add('people')
    const { keeper, store, warnings } = start(service)
    await keeper.round()
    expectKept(service, store.hooks, ['clockings'])
    const reason =
      'people: no webhook could be made. The service refuses it. It needs the scopes connector-x-webhooks.write and connector-x-people.read.'
    expect(warnings).toEqual([reason])
    expect(keeper.keeping.subscriptions.get('people')).toMatchObject({ status: 'Refused', reason })
    expect(store.hooks).toHaveLength(1)
  })

  it('leaves a webhook alone whose key it does not know, unless it is to adopt', async () => {
    const lost = createFakeService()
    await start(lost).keeper.round()
    const ours = lost.records.splice(0)
    const others = [
      `${PUBLIC_URL}/payroll`,
      'https://hooks.acme.example.org/hooks/people/4fd9a1b2c3d4e5f60718',
    ]
    const service = createFakeService()
    const strange = others.map((destinationUrl, i) => ({
      ...ours[0],
      id: `other ${i}`,
      destinationUrl,
    }))
    service.records.push(...ours.map((record, i) => ({ ...record, id: `lost ${i}` })))
    service.records.push(...(strange as typeof ours))
    const careful = start(service)
    await careful.keeper.round()
    expect(service.records).toHaveLength(6)
    expect(careful.warnings).toHaveLength(2)
    expect(careful.warnings[0]).toContain('--adopt')

    await start(service, { adopt: true }).keeper.round()
    const ids = service.records.map(({ id }) => id)
    expect(ids.filter((id) => id.startsWith('lost'))).toEqual([])
    expect(ids.filter((id) => id.startsWith('other'))).toHaveLength(2)
  })

  it('replaces all when the public URL changes, and drops what is not chosen any more', async () => {
    const service = createFakeService()
    await start(service, { publicUrl: 'https://old.acme.example' }).keeper.round()
    service.now += 2 * HOUR
    const moved = start(service, { collections: ['people'] })
    await moved.keeper.round()
    expect(service.records).toHaveLength(1)
    expectKept(service, moved.store.hooks, ['people'])
  })

  it('deletes its own and nothing else when it unsubscribes', async () => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    const [one] = service.records
    if (one !== undefined)
      service.records.push({ ...one, id: 'other', destinationUrl: 'https://a.example/x' })
    await unsubscribe(store, { connect: service.connect, log: quiet })
    expect(store.hooks).toEqual([])
    expect(service.records.map(({ id }) => id)).toEqual(['other'])
  })

  it('deletes once more what the service lists although it was replaced', async () => {
    const service = createFakeService()
    const { keeper, store } = start(service)
    await keeper.round()
    const [kept] = store.hooks
    const retiredAt = new Date(service.now).toISOString()
    await store.replace(
      store.hooks.map((hook) =>
        hook === kept ? hook : { ...hook, state: 'retiring' as const, retiredAt },
      ),
    )
    await keeper.round()
    expect(service.records.map(({ id }) => id)).toEqual([kept?.id])
  })

  it.each(['Disabled', 'Enabled'])(
    'deletes each webhook once where deleted ones stay in the list as %s, and warns of none',
    async (status) => {
      const service = createFakeService()
      service.deletedStatus = status
      service.validityMs = 10 * DAY
      const { keeper, store, warnings } = start(service)
      for (let hours = 0; hours < 30 * 24; hours++) {
        await keeper.round()
        service.now += HOUR
      }
      expect(service.creations).toHaveLength(8)
      expect(service.deletions).toEqual([...new Set(service.deletions)])
      expect(service.deletions).toHaveLength(6)
      expect(warnings).toEqual([])
      expectKept(service, store.hooks)
      const again = start(service)
      await again.keeper.round()
      expect([service.deletions.length, again.warnings]).toEqual([6, []])
    },
  )

  describe('where the service takes one webhook per collection', () => {
    const startOne = async () => {
      const service = createFakeService()
      service.isOnePerCollection = true
      const process = start(service, { collections: ['people'] })
      await process.keeper.round()
      const kept = () => expectKept(service, process.store.hooks, ['people'])
      kept()
      service.now += 2 * HOUR
      return { ...process, service, kept }
    }

    it('makes one anew in place of one that is disabled', async () => {
      const { service, keeper, kept } = await startOne()
      for (const record of service.records) record.status = 'Disabled'
      await keeper.round()
      kept()
      expect(service.deletions).toEqual(['1'])
    })

    it('deletes one that was made by a request that somebody on the way has repeated, and makes one anew', async () => {
      const service = createFakeService()
      service.isOnePerCollection = true
      const { connect } = service
      let creations = 0
      service.connect = () => {
        const client = connect()
        const { webhooks } = client
        const create: typeof webhooks.create = async (webhook) => {
          if (creations++ === 0) await webhooks.create(webhook)
          return webhooks.create(webhook)
        }
        return { ...client, webhooks: { ...webhooks, create } }
      }
      const again = start(service, { collections: ['people'] })
      await again.keeper.round()
      await again.keeper.round()
      expectKept(service, again.store.hooks, ['people'])
    })

    it('lets one that is about to expire go on until it has expired', async () => {
      const { service, keeper, kept, warnings } = await startOne()
      service.now += 30 * DAY - 3 * HOUR
      await keeper.round()
      expect(service.deletions).toEqual([])
      expect(service.records).toHaveLength(1)
      expect(warnings).toEqual([
        'people: no webhook could be made. There is one already. The present one is used until it expires.',
      ])
      service.now += 2 * HOUR
      await keeper.round()
      kept()
    })

    it('makes one in place of a disabled one whose key is lost, when it is to adopt', async () => {
      const { service } = await startOne()
      const lost = createFakeService()
      lost.isOnePerCollection = true
      lost.records.push(
        ...service.records.map((record) => ({ ...record, status: 'Disabled', id: 'lost' })),
      )
      const { keeper, store } = start(lost, { collections: ['people'], adopt: true })
      await keeper.round()
      expectKept(lost, store.hooks, ['people'])
    })
  })

  it('deletes a second webhook with the address of its own, whose key nobody has', async () => {
    const service = createFakeService()
    const { keeper, store, warnings } = start(service, { collections: ['people'] })
    await keeper.round()
    service.records.unshift(
      ...service.records.map((record) => ({ ...record, id: 'twin', key: 'x' })),
    )
    await keeper.round()
    expectKept(service, store.hooks, ['people'])
    expect([service.deletions, warnings]).toEqual([['twin'], []])
  })

  it('leaves the webhooks of another server alone, which has other collections below the same public URL', async () => {
    const service = createFakeService()
    const others = start(service, { collections: ['people'] })
    await others.keeper.round()
    const ours = createFakeService()
    ours.records.push(...service.records.map((record) => ({ ...record, id: 'other' })))
    const { keeper, warnings } = start(ours, { collections: ['clockings'], adopt: true })
    await keeper.round()
    expect(ours.records.map(({ collectionName }) => collectionName)).toEqual([
      'people',
      'clockings',
    ])
    expect([ours.deletions, warnings]).toEqual([[], []])
  })

  it('doubles the pause with each webhook that stays uninitialized, up to a day', async () => {
    const service = createFakeService()
    service.status = 'Uninitialized'
    const { keeper } = start(service, { collections: ['people'] })
    for (let minutes = 0; minutes < 5 * 24 * 60; minutes += 15) {
      await keeper.round()
      service.now += 15 * MINUTE
    }
    const times = service.creations.map(({ at }) => at)
    const pauses = times.slice(1).map((at, i) => (at - (times[i] ?? 0)) / HOUR)
    expect(pauses).toEqual([1, 2, 4, 8, 16, 24, 24, 24])
    service.status = 'Enabled'
    service.now += 25 * HOUR
    await keeper.round()
    for (const record of service.records) record.status = 'Disabled'
    service.now += HOUR
    await keeper.round()
    expect(service.records.map(({ status }) => status)).toEqual(['Enabled'])
  })

  it('ends any history of crashes, lost answers and loss of webhooks with one usable webhook each', async () => {
    const happening = fc.oneof(
      { weight: 4, arbitrary: fc.constant('round' as const) },
      fc.constantFrom('disable', 'delete', 'uninitialize', 'refuse', 'allow', 'restart', 'shorten'),
      fc.integer({ min: 1, max: 100 }),
    )
    const mishap = fc.oneof(
      { weight: 6, arbitrary: fc.constant<Mishap>(undefined) },
      fc.constantFrom<Mishap>('crash-before', 'crash-after', 'lost-before', 'lost-after'),
    )
    const history = fc.array(
      fc.record({ happening, mishaps: fc.array(mishap, { maxLength: 12 }) }),
      {
        maxLength: 25,
      },
    )
    await fc.assert(fc.asyncProperty(history, play), { numRuns: 2000 })
  })
})

type Happening = string | number

/** Plays a history and then lets the keeper work undisturbed for some hours. */
async function play(
  history: readonly { happening: Happening; mishaps: Mishap[] }[],
): Promise<void> {
  const service = createFakeService()
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
    else if (happening === 'restart') process = start(service)
    else happen(happening, service)
  }
  service.mishaps = []
  service.refusing.clear()
  service.status = 'Enabled'
  service.validityMs = 30 * DAY
  for (let rounds = 0; rounds < 3; rounds++) {
    service.now += HOUR + MINUTE
    await process.keeper.round()
  }
  expectKept(service, process.store.hooks)
  expect(inState(process.store.hooks, 'creating')).toEqual([])
  for (const collection of COLLECTIONS) {
    const times = service.creations
      .filter((one) => one.collection === collection)
      .map(({ at }) => at)
    const pauses = times.slice(1).map((at, i) => at - (times[i] ?? 0))
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(HOUR)
  }

  async function attempt(keeper: Keeper): Promise<void> {
    try {
      await keeper.round()
    } catch (error) {
      if (error instanceof Crash) process = start(service)
      else if (!(error instanceof ClientError)) throw error
    }
  }
}

function happen(happening: Happening, service: FakeService): void {
  const [record] = service.records
  if (typeof happening === 'number') service.now += happening * HOUR
  else if (happening === 'refuse') service.refusing.add('people')
  else if (happening === 'allow') service.refusing.clear()
  else if (happening === 'shorten') service.validityMs = 10 * HOUR
  else if (record === undefined) return
  else if (happening === 'delete') service.records.shift()
  else record.status = happening === 'disable' ? 'Disabled' : 'Uninitialized'
}
