import { describe, expect, it } from 'vitest'
import { nonceOf } from './store.ts'
import {
  COLLECTIONS,
  createFakeService,
  DAY,
  expectKept,
  HOUR,
  inState,
  MINUTE,
  PUBLIC_URL,
  start,
} from './testing/start-keeper.ts'

describe('the keeper', () => {
  it('creates one webhook per collection, each with its own address, and none at the next start', async () => {
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

  it('accepts deliveries of a replaced one for another 72 hours', async () => {
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

  it('creates at most one per hour if each is disabled at once, and warns once per hour', async () => {
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

  it('continues without a collection that is refused, and says so', async () => {
    const service = createFakeService()
    service.refusing.add('people')
    const { keeper, store, warnings } = start(service)
    await keeper.round()
    expectKept(service, store.hooks, ['clockings'])
    const reason =
      'people: the webhook could not be created. The service refuses it. It needs the scopes connector-x-webhooks.write and connector-x-people.read.'
    expect(warnings).toEqual([reason])
    expect(keeper.keeping.subscriptions.get('people')).toMatchObject({ status: 'Refused', reason })
    expect(inState(store.hooks, 'live')).toHaveLength(1)
  })

  it('does not touch a webhook whose key it does not know, unless it has to adopt it', async () => {
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

  it('warns once of a webhook whose key it does not know, and again when that has changed', async () => {
    const [service, before] = [createFakeService(), createFakeService()]
    await start(before, { collections: ['people'] }).keeper.round()
    service.records.push(...before.records.map((record) => ({ ...record, id: 'lost' })))
    const { keeper, warnings } = start(service, { collections: ['people'] })
    const stay = async (hours: number) => {
      for (let i = 0; i < hours; i++) {
        await keeper.round()
        service.now += HOUR
      }
      return warnings.filter((text) => text.includes('(id lost)')).length
    }
    const lost = service.records.find(({ id }) => id === 'lost')
    expect(await stay(5)).toBe(1)
    Object.assign(lost ?? {}, { status: 'Disabled' })
    expect(await stay(3)).toBe(1)
    Object.assign(lost ?? {}, { status: 'Enabled' })
    expect(await stay(5)).toBe(2)
  })

  it('replaces all when the public URL changes, and deletes those that are no longer selected', async () => {
    const service = createFakeService()
    await start(service, { publicUrl: 'https://old.acme.example' }).keeper.round()
    service.now += 2 * HOUR
    const moved = start(service, { collections: ['people'] })
    await moved.keeper.round()
    expect(service.records).toHaveLength(1)
    expectKept(service, moved.store.hooks, ['people'])
  })

  it.each([
    ['https://hooks.acme.example/old', PUBLIC_URL],
    ['https://old.acme.example', PUBLIC_URL],
  ])('replaces a webhook below %s at once when the public URL has become %s', async (old, url) => {
    const service = createFakeService()
    await start(service, { publicUrl: old }).keeper.round()
    const { keeper, store, warnings } = start(service, { publicUrl: url })
    await keeper.round()
    expectKept(service, store.hooks)
    const below = `${url}/hooks/`
    expect(service.records.filter((one) => !one.destinationUrl.startsWith(below))).toEqual([])
    expect(warnings).toEqual([])
    const back = start(service, { publicUrl: old })
    await back.keeper.round()
    expect(service.records.every((one) => one.destinationUrl.startsWith(`${old}/hooks/`))).toBe(
      true,
    )
    expect(service.records).toHaveLength(2)
  })

  it.each([302, 400, 401, 403, 409, 418, 422])(
    'leaves no webhook behind where each is made and answered %d, and asks for few',
    async (status) => {
      const service = createFakeService()
      service.answersInstead = status
      const { keeper, store } = start(service, { collections: ['people'] })
      for (let seconds = 0; seconds < 3600; seconds++) {
        await keeper.round()
        expect(service.records.length).toBeLessThan(2)
        service.now += 1000
      }
      // At once, after a second, then after 1, 2, 4, 8, 16 and 30 minutes.
      expect(service.asked).toBeLessThanOrEqual(8)
      await keeper.round()
      expect(service.records).toEqual([])
      service.answersInstead = undefined
      service.now += HOUR
      await keeper.round()
      expectKept(service, store.hooks, ['people'])
      service.now += HOUR
      await keeper.round()
      expect(inState(store.hooks, 'creating')).toEqual([])
    },
  )

  it('tries less and less often to create a webhook that is refused', async () => {
    const service = createFakeService()
    service.refusing.add('people')
    const times: number[] = []
    const { keeper, store } = start(service, { collections: ['people'] })
    for (let seconds = 0; seconds < 3 * 3600; seconds += 10) {
      const { asked } = service
      await keeper.round()
      if (service.asked > asked) times.push(seconds / 60)
      service.now += 10_000
    }
    const pauses = times.slice(1).map((at, i) => Math.round(at - (times[i] ?? 0)))
    expect(pauses).toEqual([0, 1, 2, 4, 8, 16, 30, 30, 30, 30])
    expect(inState(store.hooks, 'creating').length).toBeLessThan(8)
  })

  it('deletes a webhook that an answer was wrong about in the same round', async () => {
    const service = createFakeService()
    service.answersInstead = 302
    await start(service).keeper.round()
    expect([service.asked, service.records]).toEqual([2, []])
  })

  it('deletes such a webhook also if hours pass within the round', async () => {
    const service = createFakeService()
    const { connect } = service
    service.answersInstead = 422
    service.connect = () => {
      const client = connect()
      const create: typeof client.webhooks.create = (wanted) => {
        if (wanted.collectionName === 'people')
          Object.assign(service, { answersInstead: undefined, now: service.now + 25 * HOUR })
        return client.webhooks.create(wanted)
      }
      return { ...client, webhooks: { ...client.webhooks, create } }
    }
    const { keeper, store } = start(service)
    for (const _ of [1, 2]) await keeper.round()
    expectKept(service, store.hooks)
  })

  it('deletes a replaced webhook again if the service still lists it', async () => {
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

  describe('if the service accepts one webhook per collection', () => {
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

    it('creates a new one in place of a disabled one', async () => {
      const { service, keeper, kept } = await startOne()
      for (const record of service.records) record.status = 'Disabled'
      await keeper.round()
      kept()
      expect(service.deletions).toEqual(['1'])
    })

    it('deletes one that was created by a request that a proxy repeated, and creates a new one', async () => {
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

    it('keeps one that is about to expire until it has expired', async () => {
      const { service, keeper, kept, warnings } = await startOne()
      service.now += 30 * DAY - 3 * HOUR
      await keeper.round()
      expect(service.deletions).toEqual([])
      expect(service.records).toHaveLength(1)
      expect(warnings).toEqual([
        'people: the webhook could not be created. There is one already. The old one is used until it expires.',
      ])
      service.now += 2 * HOUR
      await keeper.round()
      kept()
    })

    it('replaces a disabled one whose key is lost, if it has to adopt it', async () => {
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

  it('deletes a second webhook with its address whose key nobody has', async () => {
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

  it('does not touch the webhooks of another server with other collections below the same public URL', async () => {
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
})
