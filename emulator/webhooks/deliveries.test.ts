import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { startEmulator } from '../emulator.ts'
import { listenOn, originOf } from '../http/http-server.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect } from '../test-client.ts'
import { sign } from './delivery.ts'

/** Answers a delivery; without an answer it hangs. */
type ReceiverAnswer = (response: ServerResponse) => void

/** An HTTP server on loopback that collects deliveries. It answers 200 until it is given another answer. */
async function startReceiver() {
  const arrivals: { path: string; headers: IncomingMessage['headers']; body: string }[] = []
  let respond: ReceiverAnswer = (response) => response.end()
  const server = await listenOn(
    createServer(async (message, response) => {
      const body = (await buffer(message)).toString()
      arrivals.push({ path: message.url ?? '', headers: message.headers, body })
      respond(response)
    }),
    0,
  )
  return {
    origin: originOf(server),
    arrivals,
    /** The parsed bodies, oldest first. */
    bodies: (): Record<string, unknown>[] => arrivals.map(({ body }) => JSON.parse(body)),
    answer(how: ReceiverAnswer) {
      respond = how
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/** A running emulator with a receiver beside it, and a client with every scope. */
async function startDelivering(options: EmulatorOptions) {
  const clients = [{ id: 'all', secret: 'secret', scopes: 'all' as const }]
  const emulator = await startEmulator({ people: 3, months: 1, clients, ...options })
  const receiver = await startReceiver()
  const client = await connect(emulator)
  const isSettled = ({ status, attempts }: { status: string; attempts: readonly unknown[] }) =>
    attempts.length > 0 || !['waiting', 'held'].includes(status)
  return {
    emulator,
    receiver,
    client,
    /** Creates a webhook for a collection with the receiver as its destination. */
    async subscribe(collection: string, query = '') {
      const body = { destinationUrl: `${receiver.origin}/hooks`, collectionName: collection }
      const { status, body: webhook } = await client.send('POST', `/webhooks${query}`, body)
      expect({ status, webhook }).toMatchObject({ status: 201 })
      const { id, privateKey } = webhook as unknown as { id: string; privateKey: string }
      return { id, key: privateKey }
    },
    /** Resolves when this many deliveries have ended or wait for a retry. */
    async settled(count: number) {
      await expect.poll(() => emulator.deliveries().filter(isSettled).length).toBe(count)
      return emulator.deliveries()
    },
  }
}
type Delivering = Awaited<ReturnType<typeof startDelivering>>

let running: Delivering
const begin = async (options: EmulatorOptions = {}) => {
  running = await startDelivering(options)
  return running
}
afterEach(async () => {
  await running.emulator.close()
  await running.receiver.close()
})

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

  it('that deletes a record is not delivered with deleteEvent none', async () => {
    const { emulator, subscribe, settled } = await begin({ deleteEvent: 'none' })
    await subscribe('clockings')
    emulator.remove('clockings', 1)
    emulator.softDelete('clockings', 2)
    expect(await settled(1)).toMatchObject([{ id: 2, status: 'delivered' }])
  })

  it('has the references that its own webhook requests', async () => {
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

  it('is attempted when it is due, in the order of due times', async () => {
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

it('sends nothing beyond this machine, except to the address that replaces all others', async () => {
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

describe('a fault', () => {
  const beginWithRecords = (options: EmulatorOptions = {}) =>
    begin({ eventShape: 'record', ...options })

  /** Changes a person to each of these first names, and returns those that were delivered. */
  async function told(names: readonly string[], deliveries: number) {
    const { emulator, receiver, settled } = running
    for (const firstName of names) emulator.update('people', 1, { firstName })
    await settled(deliveries)
    return receiver.bodies().map(({ firstName }) => firstName)
  }

  it('loses events, of one collection, some in between, or a share of them', async () => {
    const { emulator, subscribe } = await beginWithRecords({ deliveryConnections: 1 })
    await subscribe('people')
    emulator.deliveryFault('lose', { collection: 'jobs' })
    emulator.deliveryFault('lose', { collection: 'people', skip: 1, times: 1 })
    expect(await told(['A', 'B', 'C'], 3)).toEqual(['A', 'C'])
    emulator.clearFaults()
    emulator.deliveryFault('lose', { share: 0.5 })
    for (let change = 0; change < 100; change += 1) emulator.update('people', 1)
    const lost = emulator.deliveries().filter(({ status }) => status === 'lost').length
    expect([lost > 20, lost < 80]).toEqual([true, true])
  })

  it('duplicates events', async () => {
    const { emulator, subscribe } = await beginWithRecords({ deliveryConnections: 1 })
    await subscribe('people')
    emulator.deliveryFault('duplicate', { times: 1, copies: 2 })
    expect(await told(['A', 'B'], 4)).toEqual(['A', 'A', 'A', 'B'])
  })

  it('delays events, which then have an old version', async () => {
    const { emulator, receiver, subscribe } = await beginWithRecords()
    await subscribe('people')
    emulator.deliveryFault('delay', { times: 1, minutes: 90 })
    expect(await told(['A', 'B'], 1)).toEqual(['B'])
    await emulator.elapse({ hours: 1 })
    expect(receiver.arrivals).toHaveLength(1)
    await emulator.elapse({ hours: 1 })
    expect(receiver.bodies()).toMatchObject([{ firstName: 'B' }, { firstName: 'A' }])
  })

  it('reverses events whatever the answer, and sends held ones when it is cleared', async () => {
    const { emulator, receiver, subscribe, settled } = await beginWithRecords()
    await subscribe('people')
    receiver.answer((response) => response.writeHead(500).end())
    emulator.deliveryFault('reorder', { times: 3 })
    emulator.deliveryFault('reorder', { times: 2 })
    expect(await told(['A', 'B', 'C', 'D'], 3)).toEqual(['C', 'B', 'A'])
    emulator.clearFaults()
    await settled(4)
    expect(receiver.bodies().at(-1)).toMatchObject({ firstName: 'D' })
  })

  it('damages attempts, and signs them correctly when they are repeated', async () => {
    const { emulator, receiver, subscribe, settled } = await beginWithRecords()
    const { key } = await subscribe('people')
    receiver.answer((response) => response.writeHead(401).end())
    for (const kind of ['tamper', 'wrong-key', 'other-scheme', 'unsigned'] as const) {
      emulator.deliveryFault(kind, { times: 1 })
    }
    emulator.update('people', 1)
    await settled(1)
    await emulator.elapse({ hours: 36 })
    const headers = receiver.arrivals.map(({ headers: { authorization } }) => authorization)
    const genuine = (body: string) => sign(body, key).authorization
    const [tampered, wrongKey, ...others] = receiver.arrivals
    expect(headers.map((header) => header?.slice(0, 12))).toEqual([
      'HMAC-SHA256 ',
      'HMAC-SHA256 ',
      'HMAC-SHA512 ',
      undefined,
      'HMAC-SHA256 ',
    ])
    expect(headers[0]).not.toBe(genuine(tampered?.body ?? ''))
    expect(headers[1]).not.toBe(genuine(wrongKey?.body ?? ''))
    expect(headers[4]).toBe(genuine(others[2]?.body ?? ''))
  })

  it.each([
    ['when it is answered', 30_000, (running: Delivering) => running.receiver],
    [
      'after a while without an answer',
      50,
      ({ receiver }: Delivering) => {
        receiver.answer(() => undefined)
        return receiver
      },
    ],
  ])('delivers before the creation is answered: %s', async (_, ms, prepare) => {
    const { emulator, subscribe } = await beginWithRecords()
    const receiver = prepare(running)
    emulator.deliveryFault('early', { times: 1, ms })
    await subscribe('people')
    expect(receiver.bodies()).toMatchObject([{ id: 1 }])
  })
})
