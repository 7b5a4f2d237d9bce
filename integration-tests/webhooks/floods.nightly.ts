import { expect, it, onTestFinished } from 'vitest'
import { deliver, dribble } from '../../bench/deliveries.ts'
import { nonceOf } from '../../src/webhooks/serve/store.ts'
import { answers, type Scene, type Server, startScene, synced, until } from './scene.ts'

const SECOND = 1000

/** A server with one webhook, of which the first sync is over, and where its deliveries go. */
async function start() {
  const scene = await startScene()
  const server = await scene.serve({ '--run': synced(scene.folder), '--collection': 'people' })
  await until(async () => scene.orders().length === 1 && (await server.health()).lastSync !== null)
  const [{ key = '', ...hook } = { destinationUrl: '' }] = scene.stored()
  const port = Number(new URL(server.url).port)
  return { scene, server, to: { port, collection: 'people', nonce: nonceOf(hook), key } }
}

it('a flood of deliveries is taken, and leads to one sync per interval', {
  timeout: 60 * SECOND,
}, async () => {
  const { scene, to } = await start()
  const began = performance.now()
  const { counts } = await deliver(to, 1000, 10)
  expect([...counts]).toEqual([[200, 10_000]])
  await until(() => scene.differences().length === 0)
  // The first sync, and at most ten per second: --min-interval is 0.1.
  expect(scene.orders().length).toBeLessThan(2 + (performance.now() - began) / 100)
})

it('a storm of wrong signatures leads to no sync, and is a warning per minute', {
  timeout: 60 * SECOND,
}, async () => {
  const { scene, server, to } = await start()
  const { counts } = await deliver({ ...to, key: 'another' }, 2000, 5)
  expect([...counts]).toEqual([[401, 10_000]])
  expect(scene.orders()).toHaveLength(1)
  expect(server.heard().match(/WARN .* answered 401/g)).toHaveLength(1)
})

it('700 slow connections end with 408 and hold no delivery up', {
  timeout: 90 * SECOND,
}, async () => {
  const { server, to } = await start()
  onTestFinished(dribble(to, { headers: 500, bodies: 200 }))
  const { counts } = await deliver(to, 10, 25)
  expect([...counts]).toEqual([[200, 250]])
  await until(async () => ((await answers(server))['408'] ?? 0) >= 700)
})

it('a delivery whose key does not come within 10 seconds comes again an hour later', {
  timeout: 60 * SECOND,
}, async () => {
  const scene: Scene = await startScene()
  const address = '127.0.0.1:38472'
  scene.emulator.options.deliverTo = `http://${address}`
  scene.emulator.deliveryFault('early', { collection: 'people', ms: 15 * SECOND })
  const server: Server = await scene.serve({
    '--listen': address,
    '--collection': 'people',
    '--run': synced(scene.folder),
  })
  await until(async () => (await answers(server))['503'] === 1)
  await until(async () => (await server.health()).lastSync !== null)
  await scene.emulator.elapse({ minutes: 61 })
  expect(scene.emulator.deliveries()[0]?.status).toBe('delivered')
  await until(() => scene.differences().length === 0)
})
