import { createHmac } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../options.ts'
import { type Delivering, type ReceiverAnswer, startDelivering } from './test-receiver.ts'

let running: Delivering
afterEach(() => running.close())

async function begin(options: EmulatorOptions = {}) {
  running = await startDelivering(options)
  return running
}

describe('a change of a subscribed collection', () => {
  // spec: Service 6
  // spec: Events 1
  // spec: Events 7
  it('is one POST of the record, signed over the bytes that arrive', async () => {
    const { emulator, receiver, subscribe, settled } = await begin({ eventShape: 'record' })
    const { key } = await subscribe('people')
    emulator.update('people', 1, { firstName: 'Zoë "€"\u2028', geolocation: { latitude: 50.1 } })
    await settled(1)
    const [{ path, headers, body } = { path: '', headers: {}, body: '' }] = receiver.arrivals
    const signature = createHmac('sha256', Buffer.from(key)).update(body).digest('base64')
    expect({ path, type: headers['content-type'], body: JSON.stringify(JSON.parse(body)) }).toEqual(
      {
        path: '/hooks',
        type: 'application/json; charset=utf-8',
        body: JSON.stringify(emulator.stored('people')[0]),
      },
    )
    expect(headers.authorization).toBe(`HMAC-SHA256 ${signature}`)
    expect(body).toContain('50.100000000000000123456')
  })

  // spec: Events 8
  it('is in an envelope like that of a delta', async () => {
    const { emulator, receiver, subscribe, settled } = await begin({ eventShape: 'envelope' })
    await subscribe('people')
    const data = emulator.update('people', 1)
    await settled(1)
    expect(receiver.bodies()).toEqual([{ changeType: 'InsertOrUpdate', data }])
  })

  it.each([
    ['envelope', (told: object) => ({ changeType: 'Delete', data: told })],
    ['bare', (told: object) => told],
    ['record', (told: object, last: object) => ({ ...last, ...told, status: 'Deleted' })],
  ] as const)('that deletes a record comes as %s', async (deleteEvent, shape) => {
    const { emulator, receiver, subscribe, settled } = await begin({ deleteEvent })
    await subscribe('clockings')
    const last = emulator.stored('clockings')[0] ?? {}
    emulator.remove('clockings', 1)
    const [{ changeVersion } = { changeVersion: '' }] = await settled(1)
    expect(receiver.bodies()).toEqual([shape({ id: 1, changeVersion }, last)])
    expect(changeVersion > String(last['changeVersion'])).toBe(true)
  })

  it('that deletes a record is not told with deleteEvent none', async () => {
    const { emulator, subscribe, settled } = await begin({ deleteEvent: 'none' })
    await subscribe('clockings')
    emulator.remove('clockings', 1)
    emulator.softDelete('clockings', 2)
    expect(await settled(1)).toMatchObject([{ id: 2, status: 'delivered' }])
  })

  it('carries the references that its webhook asks for, of every webhook its own', async () => {
    const { emulator, receiver, subscribe, settled } = await begin({ eventShape: 'record' })
    await subscribe('clockings')
    await subscribe('clockings', '?externalReferences=(people,@badge-number)')
    emulator.update('clockings', 1, { geolocation: { latitude: 50.1 } })
    await settled(2)
    for (const { body } of receiver.arrivals) expect(body).toContain('50.100000000000000123456')
    const badges = receiver
      .bodies()
      .map(({ person }) => (person as Record<string, unknown>)['externalReferences'])
    expect(badges.toSorted()).toEqual([{ '@badge-number': expect.any(String) }, undefined])
  })
})

describe('a delivery without success', () => {
  const hours = async (count: number) => {
    await running.emulator.elapse({ hours: count })
    return running.receiver.arrivals.length
  }

  // spec: Events 5
  // spec: States: Enabled to Disabled
  // spec: Limits: webhook retry window
  it('is repeated after 1, 3, 8, 24 and 36 hours, then the webhook is disabled', async () => {
    const { emulator, receiver, subscribe, settled } = await begin()
    await subscribe('people')
    receiver.answer((response) => response.writeHead(500).end())
    emulator.update('people', 1)
    await settled(1)
    const counts = []
    for (const pause of [0.9, 0.2, 2.8, 0.2, 7.8, 0.2, 23.8, 0.2]) counts.push(await hours(pause))
    expect(counts).toEqual([1, 2, 2, 3, 3, 4, 4, 5])
    emulator.update('people', 2)
    await settled(2)
    // One attempt of the first event, and four of the second one until it is purged.
    expect(await hours(36)).toBe(6 + 4)
    emulator.update('people', 1)
    expect(await hours(100)).toBe(10)
    const statuses = emulator.deliveries().map(({ status }) => status)
    expect([statuses, emulator.webhooks()]).toMatchObject([
      ['failed', 'purged'],
      [{ status: 'Disabled' }],
    ])
  })

  it('is attempted at the time when it is due, in the order of due times', async () => {
    const { emulator, receiver, subscribe, settled } = await begin({ eventShape: 'record' })
    await subscribe('people')
    receiver.answer((response) => response.writeHead(500).end())
    emulator.update('people', 1)
    await settled(1)
    emulator.advance({ minutes: 30 })
    emulator.update('people', 2)
    await settled(2)
    await emulator.elapse({ hours: 5 })
    expect(receiver.bodies().map(({ id }) => id)).toEqual([1, 2, 1, 2, 1, 2])
    const [first] = emulator.deliveries()
    const times = first?.attempts.map(({ at }) => Date.parse(at)) ?? []
    const pauses = times.slice(1).map((time, i) => (time - (times[i] ?? 0)) / 3_600_000)
    expect([pauses.map(Math.round), first?.nextAttempt]).toEqual([[1, 3], expect.any(String)])
  })

  it('is attempted one by one while time passes', async () => {
    const { emulator, receiver, subscribe, settled } = await begin()
    await subscribe('people')
    receiver.answer((response) => response.writeHead(500).end())
    for (let change = 0; change < 5; change += 1) emulator.update('people', 1)
    await settled(5)
    const open = new Set<unknown>()
    const sizes: number[] = []
    receiver.answer((response) => {
      sizes.push(open.add(response).size)
      setTimeout(() => {
        open.delete(response)
        response.end()
      }, 5)
    })
    await emulator.elapse({ hours: 1 })
    expect(sizes).toEqual([1, 1, 1, 1, 1])
  })

  // spec: Events 9
  it.each([
    ['a redirect', (response) => response.writeHead(307, { location: '/hooks' }).end()],
    ['a broken connection', (response) => response.destroy()],
  ] as [string, ReceiverAnswer][])('is one with %s', async (_, answer) => {
    const { emulator, receiver, subscribe, settled } = await begin()
    await subscribe('people')
    receiver.answer(answer)
    emulator.update('people', 1)
    const [delivery] = await settled(1)
    expect([delivery?.status, receiver.arrivals.length]).toEqual(['waiting', 1])
  })

  it.each([
    ['snapshot', ['Ann', 'Ann']],
    ['present', ['Ann', 'Eva']],
  ] as const)(
    'is repeated with the record of the %s, while newer ones are held',
    async (retriedBody, names) => {
      const { emulator, receiver, subscribe, settled } = await begin({
        ...{ retriedBody, eventShape: 'record', eventOrder: 'held' },
      })
      await subscribe('people')
      receiver.answer((response) => response.writeHead(503).end())
      emulator.update('people', 1, { firstName: 'Ann' })
      await settled(1)
      emulator.deliveryFault('lose', { times: 1 })
      emulator.update('people', 1, { firstName: 'Eva' })
      emulator.update('people', 1, { firstName: 'Eva' })
      receiver.answer((response) => response.end())
      await emulator.elapse({ hours: 1 })
      // The newer event was held back, and comes after the older one.
      const told = receiver.bodies().map(({ firstName }) => firstName)
      expect(told).toEqual([...names, 'Eva'])
    },
  )

  it.each([
    ['deleted', 1, ({ client }, id) => client.send('DELETE', `/webhooks/${id}`)],
    ['disabled', 1, ({ emulator }, id) => emulator.disableWebhooks({ id })],
    ['expired', 1, ({ emulator }, id) => emulator.expireWebhooks({ id })],
    ['past its validity', 4, () => undefined],
  ] as [string, number, (running: Delivering, id: string) => unknown][])(
    'is purged when its webhook is %s',
    async (_, attempts, end) => {
      const { emulator, receiver, subscribe, settled } = await begin({ webhookDays: 1 })
      const { id } = await subscribe('people')
      receiver.answer((response) => response.writeHead(500).end())
      emulator.update('people', 1)
      await settled(1)
      await end(running, id)
      await emulator.elapse({ hours: 80 })
      const [delivery] = emulator.deliveries()
      expect([receiver.arrivals.length, delivery?.status]).toEqual([attempts, 'purged'])
    },
  )
})

it('does not wait for a receiver when a record changes, and opens few connections', async () => {
  const { emulator, receiver, subscribe } = await begin({ deliveryConnections: 2 })
  await subscribe('people')
  receiver.answer(() => undefined)
  for (let change = 0; change < 20; change += 1) emulator.update('people', 1)
  expect(emulator.deliveries()).toHaveLength(20)
  await expect.poll(() => receiver.arrivals.length).toBe(2)
})

it('sends nothing beyond this machine, but to the address that stands for all others', async () => {
  const { emulator, receiver, client, settled } = await begin()
  const body = { destinationUrl: 'https://hooks.example/a?b=c', collectionName: 'people' }
  expect(await client.send('POST', '/webhooks', body)).toMatchObject({ status: 201 })
  emulator.update('people', 1)
  expect(await settled(1)).toMatchObject([{ status: 'unsent', attempts: [] }])
  emulator.options.deliverTo = receiver.origin
  emulator.update('people', 1)
  await settled(2)
  expect(receiver.arrivals).toMatchObject([{ path: '/a?b=c', headers: { host: 'hooks.example' } }])
})
