import { afterEach, expect, it } from 'vitest'
import type { EmulatorOptions } from '../options.ts'
import { sign } from './post-event.ts'
import { type Delivering, startDelivering } from './test-receiver.ts'

let running: Delivering
afterEach(() => running.close())

async function begin(options: EmulatorOptions = {}) {
  running = await startDelivering({ eventShape: 'record', ...options })
  return running
}

/** The first names that were told, after one change of a person for each of these. */
async function told(names: readonly string[], deliveries: number) {
  const { emulator, receiver, settled } = running
  for (const firstName of names) emulator.update('people', 1, { firstName })
  await settled(deliveries)
  return receiver.bodies().map(({ firstName }) => firstName)
}

it('loses events, of one collection, some in between, or a share of them', async () => {
  const { emulator, subscribe } = await begin({ deliveryConnections: 1 })
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
  const { emulator, subscribe } = await begin({ deliveryConnections: 1 })
  await subscribe('people')
  emulator.deliveryFault('duplicate', { times: 1, copies: 2 })
  expect(await told(['A', 'B'], 4)).toEqual(['A', 'A', 'A', 'B'])
})

it('delays events, which then tell an old version', async () => {
  const { emulator, receiver, subscribe } = await begin()
  await subscribe('people')
  emulator.deliveryFault('delay', { times: 1, minutes: 90 })
  expect(await told(['A', 'B'], 1)).toEqual(['B'])
  await emulator.elapse({ hours: 1 })
  expect(receiver.arrivals).toHaveLength(1)
  await emulator.elapse({ hours: 1 })
  expect(receiver.bodies()).toMatchObject([{ firstName: 'B' }, { firstName: 'A' }])
})

it('turns events around whatever the answer, and sends what it holds when it is cleared', async () => {
  const { emulator, receiver, subscribe, settled } = await begin()
  await subscribe('people')
  receiver.answer((response) => response.writeHead(500).end())
  emulator.deliveryFault('reorder', { times: 3 })
  emulator.deliveryFault('reorder', { times: 2 })
  expect(await told(['A', 'B', 'C', 'D'], 3)).toEqual(['C', 'B', 'A'])
  emulator.clearFaults()
  await settled(4)
  expect(receiver.bodies().at(-1)).toMatchObject({ firstName: 'D' })
})

it('spoils attempts, and signs rightly when they are repeated', async () => {
  const { emulator, receiver, subscribe, settled } = await begin()
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
  const { emulator, subscribe } = await begin()
  const receiver = prepare(running)
  emulator.deliveryFault('early', { times: 1, ms })
  await subscribe('people')
  expect(receiver.bodies()).toMatchObject([{ id: 1 }])
})
