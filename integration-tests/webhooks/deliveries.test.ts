import { describe, expect, it } from 'vitest'
import type { EmulatorOptions } from '../../emulator/emulator.ts'
import { nonceOf } from '../../src/webhooks/serve/store.ts'
import { answers, FEW, type Options, type Scene, type Server, startScene, until } from './scene.ts'

/** A scene whose first sync is over. */
async function start(
  emulator: EmulatorOptions = {},
  options: Options = {},
): Promise<[Scene, Server]> {
  const scene = await startScene(emulator, FEW)
  const server = await scene.serve({ ...(await scene.scheduler()), ...options })
  await until(async () => (await server.health()).lastSync !== null)
  expect([scene.differences(), scene.orders().length]).toEqual([[], 1])
  return [scene, server]
}

describe('a delivery', () => {
  it('leads to one sync', async () => {
    const [scene] = await start()
    scene.emulator.update('people', 1)
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
    expect(scene.orders()[1]).toEqual({ reason: 'delivery', streams: ['people'] })
  })

  it('that is repeated a hundred times leads to one sync', async () => {
    const [scene, server] = await start({}, { '--debounce': '1', '--max-wait': '60' })
    scene.emulator.deliveryFault('duplicate', { copies: 99, times: 1 })
    scene.emulator.update('people', 1)
    await until(async () => (await answers(server))['200'] === 100)
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
    expect(server.heard()).toContain('reason=delivery deliveries=100 streams=people')
  })

  it('and ninety-nine others that come at once are answered, and lead to one sync', async () => {
    const waits = { '--debounce': '1', '--max-wait': '60' }
    const [scene, server] = await start({ deliveryConnections: 100 }, waits)
    for (let version = 0; version < 100; version++) scene.emulator.update('people', 1)
    await until(async () => (await answers(server))['200'] === 100)
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
    expect(server.heard()).toContain('reason=delivery deliveries=100 streams=people')
  })

  it('of last month brings no old data into the warehouse', async () => {
    const [scene, server] = await start({ webhookDays: 90 })
    scene.emulator.deliveryFault('delay', { minutes: 30 * 1440, times: 1 })
    scene.emulator.update('people', 2)
    scene.emulator.remove('people', 2)
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
    await scene.emulator.elapse({ days: 31 })
    await until(async () => (await answers(server))['200'] === 2)
    await until(() => scene.orders().length === 3 && scene.differences().length === 0)
  })

  it('before one of an older version leads to the newest version', async () => {
    const [scene, server] = await start()
    scene.emulator.deliveryFault('reorder', { times: 3 })
    for (let version = 0; version < 3; version++) scene.emulator.update('people', 1)
    await until(async () => (await answers(server))['200'] === 3)
    await until(() => scene.differences().length === 0)
  })

  it('of another collection deletes a row whose deletion no event reports', async () => {
    const [scene] = await start({ deleteEvent: 'none' })
    scene.emulator.remove('people', 2)
    scene.emulator.update('absences', 1)
    await until(() => scene.orders().length > 1 && scene.differences().length === 0)
  })

  it('of a row that was deleted again, without an event and without a change in the delta, leaves no row behind', async () => {
    const [scene] = await start({ netDelta: true })
    scene.emulator.deliveryFault('lose', { skip: 1, times: 1 })
    const inserted = scene.emulator.insert('people', {})
    scene.emulator.remove('people', Number(inserted['id']))
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
  })

  it('that was tampered with or signed with another key is refused, and leads to no sync', async () => {
    const [scene, server] = await start()
    for (const kind of ['tamper', 'wrong-key', 'other-scheme', 'unsigned'] as const) {
      scene.emulator.deliveryFault(kind, { times: 1 })
    }
    for (let times = 0; times < 4; times++) scene.emulator.update('people', 1)
    await until(async () => (await answers(server))['401'] === 4)
    expect([await answers(server), scene.orders().length]).toEqual([{ 200: 0, 401: 4 }, 1])
  })

  it('is in no line of the log and on no page, and neither are keys and nonces', async () => {
    const [scene, server] = await start({}, { '--debug': true })
    scene.emulator.update('people', 1, { name: 'Zoë Unmistakable' })
    scene.emulator.deliveryFault('wrong-key', { times: 1, collection: 'absences' })
    scene.emulator.update('absences', 1)
    const [hook] = scene.stored()
    const path = new URL(hook?.destinationUrl ?? '').pathname
    await fetch(`${server.url}${path}x`, { method: 'POST', body: '{}' })
    await until(async () => (await answers(server))['404'] === 1)
    await until(() => scene.orders().length > 1 && scene.differences().length === 0)
    const pages = JSON.stringify(await server.health()) + (await server.metrics())
    await server.stop()
    const said = server.heard() + pages
    expect(said).toContain('DEBUG')
    for (const one of scene.stored()) {
      expect(said).not.toContain(one.key)
      expect(said).not.toContain(nonceOf(one))
    }
    expect(said).not.toMatch(/Unmistakable|emulator-secret/)
  })
})

describe('the clock of the receiver', () => {
  it.each([2, -2])(
    'may be wrong by %i days: validity depends on the time of the service',
    async (days) => {
      const now = new Date(Date.now() - days * 86_400_000).toISOString()
      const scene = await startScene({ now, webhookDays: 1 })
      const server = await scene.serve({ '--collection': 'people' })
      await until(() => scene.orders().length === 1)
      scene.emulator.update('people', 1)
      await until(async () => (await answers(server))['200'] === 1)
      await scene.emulator.elapse({ hours: 17 })
      const rounds = scene.emulator.requests.length
      await until(() => scene.emulator.requests.length > rounds + 4)
      expect(scene.emulator.webhooks()).toHaveLength(1)
      await scene.emulator.elapse({ hours: 2 })
      await until(() => scene.emulator.webhooks().length === 2)
    },
  )
})
