import { readdirSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { deliver, dribble } from '../../bench/scenarios/webhooks.ts'
import { createRandom } from '../../emulator/generate/random.ts'
import { streamOf, webhookCollections } from '../../src/client/service-client.ts'
import {
  openRaw,
  type RawConnection,
  sign,
} from '../../src/webhooks/receive/testing/start-receiver.ts'
import { nonceOf } from '../../src/webhooks/serve/store.ts'
import { freePort } from '../engines/command.ts'
import { parseLines } from '../testing/run.ts'
import {
  answers,
  PUBLIC_URL,
  type Scene,
  type ServerProcess,
  startScene,
  synced,
  until,
} from './scene.ts'

const { KILLS_MINUTES = '5' } = process.env
const RUN_MS = Number(KILLS_MINUTES) * 60_000
const KILL_EVERY_MS = 10_000
const CHANGE_EVERY_MS = 200

/** A change of the service, as the warehouse is to see it. */
interface Change {
  readonly stream: string
  readonly id: unknown
  /** Undefined for a deletion. */
  readonly version: string | undefined
  readonly at: number
}

it('a receiver that is killed every 10 seconds, and loses a delivery in 20, leaves the warehouse equal to the service', {
  timeout: RUN_MS + 120_000,
}, async () => {
  const scene = await startScene({ people: 25, months: 1 })
  scene.emulator.deliveryFault('lose', { share: 0.05 })
  const options = {
    '--listen': `127.0.0.1:${await freePort()}`,
    '--run': synced(scene.folder),
    '--debounce': '1',
    '--max-wait': '3',
    '--min-interval': '1',
    '--watch-interval': '5',
  }
  const changes: Change[] = []
  let server: ServerProcess = await scene.serveApart(options)
  let kills = 0
  const end = performance.now() + RUN_MS
  const changing = change(scene, changes, end)
  while (performance.now() < end) {
    await sleep(KILL_EVERY_MS)
    server.child.kill('SIGKILL')
    await server.exited
    kills += 1
    server = await scene.serveApart(options)
  }
  await changing
  scene.emulator.clearFaults()
  await until(async () => (await server.health()).lastSync !== null)
  scene.emulator.update('people', 1)
  await until(() => scene.emulator.deliveries().at(-1)?.status === 'delivered')
  const syncs = () => readdirSync(scene.folder).filter((name) => name.endsWith('.jsonl')).length
  const before = syncs()
  await until(() => syncs() > before)
  expect(scene.differences()).toEqual([])
  const lost = scene.emulator.deliveries().filter(({ status }) => status !== 'delivered').length
  const seconds = latencies(scene, changes).sort((a, b) => a - b)
  const quantile = (part: number) => (seconds[Math.floor(seconds.length * part)] ?? 0).toFixed(1)
  process.stdout.write(
    `${changes.length} changes, ${kills} kills, ${lost} of ${scene.emulator.deliveries().length} deliveries lost, ${syncs()} syncs; seconds from a change to the warehouse: median ${quantile(0.5)}, 90 % ${quantile(0.9)}, longest ${quantile(0.9999)}\n`,
  )
})

/** Inserts, updates and deletes until the end, and notes what the warehouse is to see of it. */
async function change({ emulator }: Scene, changes: Change[], end: number): Promise<void> {
  const random = createRandom(1)
  while (performance.now() < end) {
    const collection = random.pick(webhookCollections)
    const stream = streamOf(collection)
    const record = random.pick(emulator.stored(collection))
    const what = random.pick(['insert', 'update', 'update', 'remove'])
    const at = Date.now()
    if (what === 'insert' || record === undefined) {
      const { id, changeVersion } = emulator.insert(collection)
      changes.push({ stream, id, version: String(changeVersion), at })
    } else if (what === 'update') {
      const { id, changeVersion } = emulator.update(collection, record['id'] as number)
      changes.push({ stream, id, version: String(changeVersion), at })
    } else if (collection !== 'people') {
      emulator.remove(collection, record['id'] as number)
      changes.push({ stream, id: record['id'], version: undefined, at })
    }
    await sleep(CHANGE_EVERY_MS)
  }
}

/** Seconds from each change to the end of the first sync that brought it, or a newer one of its record. */
function latencies({ folder, file }: Scene, changes: readonly Change[]): number[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
  const waiting = new Set(changes)
  const seconds: number[] = []
  for (const name of names) {
    const loadedAt = statSync(file(name)).mtimeMs
    const rows = new Map<string, Readonly<Record<string, unknown>>>()
    for (const { record } of parseLines(readFileSync(file(name), 'utf8'))) {
      if (record !== undefined) rows.set(`${record.stream} ${record.data['id']}`, record.data)
    }
    for (const one of waiting) {
      const row = rows.get(`${one.stream} ${one.id}`)
      if (row === undefined || one.at > loadedAt || !isSeen(one, row)) continue
      waiting.delete(one)
      seconds.push((loadedAt - one.at) / 1000)
    }
  }
  return seconds
}

function isSeen({ version }: Change, row: Readonly<Record<string, unknown>>): boolean {
  if (version === undefined) return row['_ab_cdc_deleted_at'] !== null
  return String(row['changeVersion']) >= version
}

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
  const server = await scene.serve({
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

const PATH = '/hooks/people/4fd9a1b2c3d4e5f60718293a4b5c6d7e'
const KEY = 'the key of the webhook'
const MEBIBYTE = 1_048_576

/** A server of one webhook, whose address somebody knows who does not know its key. */
async function startGuarded(): Promise<ServerProcess> {
  const scene = await startScene()
  const hook = { collection: 'people', destinationUrl: `${PUBLIC_URL}${PATH}`, key: KEY }
  scene.write('webhooks.json', { version: 1, webhooks: [hook] })
  return scene.serveApart({ '--collection': 'people' })
}

async function connections(server: ServerProcess, count: number): Promise<RawConnection[]> {
  const { port } = new URL(server.url)
  const open = await Promise.all(Array.from({ length: count }, () => openRaw(Number(port))))
  onTestFinished(() => {
    for (const connection of open) connection.end()
  })
  return open
}

async function deliverOne(server: ServerProcess): Promise<number> {
  const headers = { authorization: sign('{}', KEY), connection: 'close' }
  const response = await fetch(`${server.url}${PATH}`, { method: 'POST', headers, body: '{}' })
  return response.status
}

/** The most memory that a process has had, in megabytes. */
function peakMegabytes(pid: number | undefined): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1]) / 1024
}

it('600 bodies of 1 MiB that nobody has rightly signed take less than 128 MB', async () => {
  const server = await startGuarded()
  const body = Buffer.alloc(MEBIBYTE - 1, ' ')
  const senders = await connections(server, 600)
  await Promise.all(
    senders.map((connection, i) => {
      const signature = i % 2 === 0 ? '' : `Authorization: ${sign('{}', 'another key')}\r\n`
      connection.write(
        `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\n${signature}Content-Length: ${MEBIBYTE}\r\n\r\n`,
      )
      return connection.sent(body)
    }),
  )
  expect(await deliverOne(server)).toBe(200)
  expect(peakMegabytes(server.child.pid)).toBeLessThan(128)
})

it('2,000 connections that say nothing shut no delivery out for a second', async () => {
  const server = await startGuarded()
  await connections(server, 2100)
  const since = performance.now()
  await until(async () => (await deliverOne(server).catch(() => 0)) === 200)
  expect(performance.now() - since).toBeLessThan(1000)
})
