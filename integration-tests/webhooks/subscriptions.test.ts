import { readFileSync, rmSync, statSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { collections } from '../../emulator/collections/collections.ts'
import { webhookCollections } from '../../src/client/service-client.ts'
import { sign } from '../../src/webhooks/receive/testing/start-receiver.ts'
import { nonceOf } from '../../src/webhooks/serve/store.ts'
import { freePort } from '../engines/command.ts'
import { PUBLIC_URL, type Scene, type Server, startScene, until } from './scene.ts'

const ONE = { '--collection': 'people' } as const

/** Posts a delivery as the service does, to the path of a webhook. */
async function deliver(server: Server, destinationUrl: string, key: string): Promise<number> {
  const body = '{"id":1}'
  const response = await fetch(destinationUrl.replace(PUBLIC_URL, server.url), {
    method: 'POST',
    headers: { authorization: sign(body, key) },
    body,
  })
  return response.status
}

/** Waits until each of these collections has one live webhook, whose key is in the store. */
async function untilKept(
  scene: Scene,
  names: readonly string[] = webhookCollections,
): Promise<void> {
  await until(() => {
    const live = scene.live().filter(({ status }) => status === 'Enabled')
    const kept = scene
      .stored()
      .filter(({ state, id }) => state === 'live' && live.some((one) => one['id'] === id))
    const subscribed = kept.map(({ collection }) => collection).sort()
    return live.length === names.length && subscribed.join() === [...names].sort().join()
  })
}

describe('protime webhooks serve', () => {
  it('creates a webhook for each collection at the first start, and none at the second', async () => {
    const scene = await startScene()
    const first = await scene.serve()
    await until(() => scene.orders().length === 1)
    expect(scene.orders()[0]?.reason).toBe('start')
    expect(scene.orders()[0]?.streams).toHaveLength(18)
    const nonces = scene.stored().map(nonceOf)
    expect(new Set(nonces).size).toBe(18)
    for (const nonce of nonces) expect(nonce).toMatch(/^[0-9a-f]{32}$/)
    expect(statSync(scene.file('webhooks.json')).mode & 0o777).toBe(0o600)
    await first.stop()

    await scene.serve()
    await until(() => scene.orders().length === 2)
    expect(scene.emulator.webhooks()).toHaveLength(18)
    expect(scene.stored().map(nonceOf)).toEqual(nonces)
  })

  it('continues without a collection that the client may not read, and names the scope', async () => {
    const scopes = Object.keys(collections).filter((name) => name !== 'people')
    const client = { id: 'connector', secret: 'emulator-secret' }
    const scene = await startScene({
      clients: [{ ...client, scopes: [...scopes, 'webhooks.read', 'webhooks.write'] }],
    })
    const server = await scene.serve()
    await untilKept(
      scene,
      webhookCollections.filter((name) => name !== 'people'),
    )
    await until(() => scene.orders().length === 1)
    expect(scene.orders()[0]?.streams).not.toContain('people')
    const { status, collections: told } = await server.health()
    expect(status).toBe(200)
    expect(told['people']).toMatchObject({
      status: 'Refused',
      reason: expect.stringContaining('connector-protimeapi-people.read'),
    })
    expect(server.heard()).toMatch(/WARN people: .*connector-protimeapi-webhooks\.write/)
    await scene.emulator.elapse({ minutes: 61 })
    await until(async () => (await server.health()).status === 503)
  })

  it('deletes a webhook whose key was lost in a kill, and creates a new one', async () => {
    const scene = await startScene()
    // The list, then the third webhook: it is made, and no answer comes.
    scene.emulator.fault('/webhooks', 'after-last-byte', { skip: 3, times: 1 })
    const server = await scene.serveApart({ '--watch-interval': '600' })
    await until(() => server.heard().includes('WARN The webhooks could not be checked'))
    server.child.kill('SIGKILL')
    await server.exited
    expect(scene.stored().filter(({ state }) => state === 'creating')).toHaveLength(1)
    expect(scene.live()).toHaveLength(3)
    await scene.serve()
    await untilKept(scene)
  })

  it('accepts a delivery that comes before the answer with the key', async () => {
    const scene = await startScene()
    const address = `127.0.0.1:${await freePort()}`
    scene.emulator.options.deliverTo = `http://${address}`
    scene.emulator.deliveryFault('early', { collection: 'people', ms: 300 })
    await scene.serve({ ...ONE, '--listen': address })
    await until(() => scene.emulator.deliveries()[0]?.status === 'delivered')
  })

  it('deletes a webhook whose key the service does not return, and says so', async () => {
    const scene = await startScene({ webhookKeyName: 'token' })
    const server = await scene.serve(ONE)
    await until(() => server.heard().includes('without its key'))
    await until(() => scene.live().length === 0)
    const { status, collections: told } = await server.health()
    expect([status, told['people']?.status]).toEqual([200, 'Refused'])
    expect(scene.emulator.webhooks()).toHaveLength(1)
  })

  // spec: Events 6
  // spec: States: validUntil
  it('replaces a webhook that expires soon, creating the successor first, and accepts what the old one still sends', async () => {
    const scene = await startScene({ webhookDays: 1 })
    const server = await scene.serve(ONE)
    await untilKept(scene, ['people'])
    const [old] = scene.stored()
    if (old === undefined) throw new Error('there is one')
    await scene.emulator.elapse({ hours: 19 })
    await until(() => scene.stored().some(({ state }) => state === 'retiring'))
    await untilKept(scene, ['people'])
    const created = scene.emulator.requests.findLastIndex(
      ({ method, path }) => method === 'POST' && path.endsWith('/webhooks'),
    )
    const deleted = scene.emulator.requests.findLastIndex(({ method }) => method === 'DELETE')
    expect(created).toBeLessThan(deleted)
    await until(() => scene.orders().at(-1)?.reason === 'renewal')
    expect(await deliver(server, old.destinationUrl, old.key)).toBe(200)
    await scene.emulator.elapse({ hours: 73 })
    await until(async () => (await deliver(server, old.destinationUrl, old.key)) === 404)
  })

  it('creates new webhooks after a downtime that was longer than their validity, and reads no more than before', async () => {
    const scene = await startScene({ webhookDays: 1 })
    const run = await scene.scheduler()
    const first = await scene.serve(run)
    await until(() => scene.differences().length === 0)
    await first.stop()
    await scene.emulator.elapse({ hours: 25 })
    scene.emulator.update('people', 1)
    await scene.serve(run)
    await untilKept(scene)
    await until(() => scene.orders().length === 2 && scene.differences().length === 0)
    const said = readFileSync(scene.file('sync.000001.jsonl'), 'utf8')
    expect(said.match(/^\{"type":"RECORD"/gm)).toHaveLength(1)
  })

  // spec: Events 6
  // spec: States: Enabled to Disabled
  it('replaces a webhook that the service has disabled after 72 hours of failures', async () => {
    const scene = await startScene()
    const server = await scene.serve(await scene.scheduler())
    await untilKept(scene)
    await until(() => scene.differences().length === 0)
    // Nobody listens there: each attempt fails.
    scene.emulator.options.deliverTo = 'http://127.0.0.1:9'
    scene.emulator.update('people', 1)
    await scene.emulator.elapse({ hours: 73 })
    scene.emulator.options.deliverTo = server.url
    await until(() => server.heard().includes('its status is Disabled'))
    await untilKept(scene)
    await until(
      () => scene.orders().at(-1)?.reason === 'renewal' && scene.differences().length === 0,
    )
    expect(scene.orders().at(-1)?.streams).toEqual(['people'])
  })

  // spec: Events 10
  it('waits for a webhook that is not initialized yet', async () => {
    const scene = await startScene({ uninitializedMinutes: 5 })
    const server = await scene.serve(ONE)
    await until(() => /WARN people: .*not initialized/.test(server.heard()))
    await scene.emulator.elapse({ minutes: 6 })
    await untilKept(scene, ['people'])
    expect(scene.emulator.webhooks()).toHaveLength(1)
  })

  it('creates a new webhook for one that was deleted but is still listed', async () => {
    const scene = await startScene({ deletedWebhook: 'listed' })
    const server = await scene.serve(ONE)
    await untilKept(scene, ['people'])
    const [webhook] = scene.stored()
    await scene.emulator.elapse({ minutes: 61 })
    const other = await scene.protime('webhooks', 'delete', webhook?.id ?? '')
    expect(other.exitCode).toBe(0)
    await until(() => server.heard().includes('it no longer exists'))
    await untilKept(scene, ['people'])
  })

  it('reports webhooks whose keys were lost with the store, and replaces them if it has to adopt them', async () => {
    const scene = await startScene()
    const first = await scene.serve(ONE)
    await untilKept(scene, ['people'])
    await first.stop()
    rmSync(scene.file('webhooks.json'))
    const second = await scene.serve(ONE)
    await until(() => /WARN people: .*--adopt/.test(second.heard()))
    scene.emulator.update('people', 1)
    await until(async () => /code="404"} 1/.test(await second.metrics()))
    await second.stop()
    rmSync(scene.file('webhooks.json'))
    await scene.serve({ ...ONE, '--adopt': true })
    await untilKept(scene, ['people'])
  })

  it.each(['documentation', 'specification'] as const)(
    'finds its webhooks in all pages of the list (%s)',
    async (dialect) => {
      const scene = await startScene({ pageSize: 5, dialect, validUntil: 'seven-digits' })
      const first = await scene.serve()
      await untilKept(scene)
      await first.stop()
      const second = await scene.serve()
      await until(async () => (await second.health()).collections['people']?.status === 'Enabled')
      expect(scene.emulator.webhooks()).toHaveLength(18)
      const end = scene.emulator.now().getTime() + 30 * 86_400_000
      const told = (await second.health()).collections['people']?.validUntil ?? ''
      expect(Math.abs(Date.parse(told) - end)).toBeLessThan(60_000)
    },
  )

  it('deletes only its own webhooks with --unsubscribe', async () => {
    const scene = await startScene()
    const server = await scene.serve()
    await untilKept(scene)
    await server.stop()
    const url = 'https://hooks.acme.example/of/somebody/else'
    await scene.protime(
      'webhooks',
      'create',
      '--collection',
      'people',
      '--url',
      url,
      '--key-file',
      scene.file('key'),
    )
    const { exitCode } = await scene.protime(...scene.words({ '--unsubscribe': true }))
    expect(exitCode).toBe(0)
    expect(scene.live().map(({ destinationUrl }) => destinationUrl)).toEqual([url])
    expect(scene.stored()).toEqual([])
  })
})
