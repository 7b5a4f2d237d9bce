import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { reply, startHttpService } from '../../src/http/testing/http-service.ts'
import { FEW, type Scene, startScene, until } from './scene.ts'

/** Somebody else's port. */
async function takePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return `127.0.0.1:${(server.address() as { readonly port: number }).port}`
}

it.each([
  [
    'a port in use',
    async () => ({ '--listen': await takePort() }),
    /another program listens there/,
  ],
  [
    'a store of another version',
    async (scene: Scene) => {
      scene.write('later.json', { version: 999, webhooks: [] })
      return { '--store': scene.file('later.json') }
    },
    /has version 999/,
  ],
  [
    'a store that cannot be written',
    async (scene: Scene) => ({ '--store': scene.file('missing/webhooks.json') }),
    /cannot be written \(ENOENT\)/,
  ],
  ['a public URL without TLS', async () => ({ '--public-url': 'http://a.example' }), /https/],
  ['no way to sync', async () => ({ '--run': undefined }), /one of --run/],
])(
  'protime webhooks serve ends with 2 and a sentence for %s, and creates nothing',
  async (_, options, sentence) => {
    const scene = await startScene()
    const { exitCode, stderr } = await scene.protime(...scene.words(await options(scene)))
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(sentence)])
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(scene.emulator.webhooks()).toEqual([])
    expect(existsSync(scene.file('webhooks.json'))).toBe(false)
  },
)

it.each([
  [
    'whose secret is wrong',
    { secret: 'another', scopes: 'all' as const },
    /does not accept this client id and client secret/,
  ],
  [
    'who may not see webhooks',
    { secret: 'emulator-secret', scopes: ['people'] },
    /connector-protimeapi-webhooks\.read/,
  ],
])(
  'protime webhooks serve ends with 2 for a client %s, and runs no sync',
  async (_, client, sentence) => {
    const scene = await startScene()
    scene.emulator.options.clients = [{ id: 'connector', ...client }]
    const { exitCode, stderr } = await scene.protime(...scene.words())
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(sentence)])
    expect([scene.emulator.webhooks(), scene.orders()]).toEqual([[], []])
  },
)

it('protime webhooks serve continues if the client is refused later, and says so', async () => {
  const scene = await startScene()
  const server = await scene.serve({ '--collection': 'people' })
  await until(() => scene.orders().length === 1)
  scene.emulator.options.clients = [{ id: 'connector', secret: 'another', scopes: 'all' }]
  await until(() => /WARN The webhooks could not be checked/.test(server.heard()))
  scene.emulator.update('people', 1)
  await until(() => scene.orders().length === 2)
})

it.each([
  ['/connect/token', 403],
  ['/webhooks', 404],
])(
  'protime webhooks serve with live webhooks is not ended by one bad answer at its start (%s: %i)',
  async (path, status) => {
    const scene = await startScene()
    const first = await scene.serve({ '--collection': 'people' })
    await until(() => scene.orders().length === 1)
    await first.stop()
    scene.emulator.fail(path, status, { times: 1 })
    const second = await scene.serve({ '--collection': 'people' })
    await until(() => /WARN The webhooks could not be checked/.test(second.heard()))
    await until(async () => (await second.health()).collections['people']?.status === 'Enabled')
    expect(scene.emulator.webhooks()).toHaveLength(1)
  },
)

it('protime webhooks serve requests only the scopes of the selected collections', async () => {
  const { origin, requests } = await startHttpService((_, response) => reply(response, 401))
  const scene = await startScene()
  const environment = { type: 'custom', base_url: origin, auth_url: origin, api_name: 'svcapi' }
  scene.write('config.json', { ...scene.emulator.config(), environment })
  await scene.protime(...scene.words({ '--collection': 'people,breaks' }))
  const scopes = new URLSearchParams(requests[0]?.body).get('scope')?.split(' ')
  expect(scopes).toEqual(
    ['webhooks.read', 'webhooks.write', 'people.read', 'breaks.read'].map(
      (name) => `connector-svcapi-${name}`,
    ),
  )
})

it('protime webhooks serve waits for a service that is down at its start', async () => {
  const scene = await startScene()
  scene.write('config.json', { ...scene.emulator.config(), retry_minutes: 0 })
  scene.emulator.fault('/connect/token', 'reset')
  const server = await scene.serve({ '--collection': 'people' })
  await until(() => /WARN The webhooks could not be checked/.test(server.heard()))
  scene.emulator.clearFaults()
  await until(() => scene.orders().length === 1)
})

const locks = ({ folder }: Scene) => readdirSync(folder).filter((name) => name.endsWith('.lock'))

it('a second server on one store is refused, with the process that has it', async () => {
  const scene = await startScene({}, FEW)
  const first = await scene.serveApart()
  await until(() => scene.orders().length === 1)
  const before = readFileSync(scene.file('webhooks.json'), 'utf8')
  const { exitCode, stderr } = await scene.protime(...scene.words())
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Another protime webhooks serve')])
  expect(stderr).toContain(`process ${first.child.pid} on host`)
  expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  expect(readFileSync(scene.file('webhooks.json'), 'utf8')).toBe(before)
})

it('webhooks of a running server are not deleted', async () => {
  const scene = await startScene({}, FEW)
  await scene.serve()
  await until(() => scene.live().length === FEW.length)
  const { exitCode, stderr } = await scene.protime(...scene.words({ '--unsubscribe': true }))
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Stop that one first')])
  expect(scene.live()).toHaveLength(FEW.length)
})

it('a store is the same under the name of a link', async () => {
  const scene = await startScene({}, FEW)
  await scene.serve()
  await until(() => scene.live().length === FEW.length)
  symlinkSync(scene.file('webhooks.json'), scene.file('link.json'))
  const words = scene.words({ '--store': scene.file('link.json'), '--unsubscribe': true })
  const { exitCode, stderr } = await scene.protime(...words)
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('Stop that one first')])
  expect(scene.live()).toHaveLength(FEW.length)
})

it('the remaining lock of a killed server blocks no other, and a stopped one leaves none', async () => {
  const scene = await startScene({}, FEW)
  for (let times = 0; times < 2; times++) {
    const server = await scene.serveApart()
    expect(locks(scene)).toHaveLength(1)
    server.child.kill('SIGKILL')
    await server.exited
    expect(locks(scene)).toHaveLength(1)
  }
  const last = await scene.serveApart()
  await last.endsSoonAfter(() => last.child.kill('SIGTERM'), last.exited)
  expect(locks(scene)).toEqual([])
})

it('a server that is suspended keeps its store', async () => {
  const scene = await startScene({}, FEW)
  const first = await scene.serveApart()
  first.child.kill('SIGSTOP')
  const { exitCode, stderr } = await scene.protime(...scene.words())
  first.child.kill('SIGCONT')
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining('does not respond')])
})

it('the store of another tenant is refused, also by --unsubscribe, and nothing is changed', async () => {
  const scene = await startScene({}, FEW)
  const server = await scene.serveApart()
  await until(() => scene.live().length === FEW.length)
  server.child.kill('SIGTERM')
  await server.exited
  const before = readFileSync(scene.file('webhooks.json'), 'utf8')
  scene.write('webhooks.json', JSON.parse(before.replace(/"tenant": "[^"]+"/, '"tenant": "other"')))
  for (const options of [{}, { '--unsubscribe': true as const }]) {
    const { exitCode, stderr } = await scene.protime(...scene.words(options))
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('of the tenant other at')])
  }
  expect(scene.live()).toHaveLength(FEW.length)
})

it('a store that is removed while the server runs is written again', async () => {
  const scene = await startScene({}, FEW)
  const server = await scene.serve()
  await until(() => scene.orders().length === 1)
  rmSync(scene.file('webhooks.json'))
  await until(() => server.heard().includes('was deleted'))
  const { webhooks } = JSON.parse(readFileSync(scene.file('webhooks.json'), 'utf8'))
  expect(webhooks.filter(({ key }: { key?: string }) => key !== undefined)).toHaveLength(FEW.length)
})

it('a store whose folder is away is reported once, and written again when it is back', async () => {
  const scene = await startScene({}, FEW)
  mkdirSync(scene.file('store'))
  const server = await scene.serve({ '--store': scene.file('store/webhooks.json') })
  await until(() => scene.orders().length === 1)
  renameSync(scene.file('store'), scene.file('away'))
  await sleep(2500)
  expect(server.heard().match(/Its keys are lost when this program ends/g)).toHaveLength(1)
  mkdirSync(scene.file('store'))
  await until(() => existsSync(scene.file('store/webhooks.json')))
})
