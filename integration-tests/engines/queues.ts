import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delimiter, join } from 'node:path'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { installBlocks, withPackage } from '../../scripts/guide-blocks.ts'
import { packageFolder } from '../../src/ground/project-files.ts'
import { sign } from '../../src/webhooks/receive/delivery.ts'
import {
  expectSame,
  freePort,
  installDebian,
  output,
  type Program,
  packNpm,
  start,
} from './command.ts'
import type { Engine, Tools } from './engine.ts'
import { startPostgreSql } from './meltano/postgresql.ts'

const GUIDE = 'docs/webhook-events.md'

/** A block of docs/webhook-events.md, by its language and the word behind it. */
function recipe(language: 'js' | 'json' | 'sh' | 'sql', word: string): string {
  const blocks = installBlocks(readFileSync(join(packageFolder(), GUIDE), 'utf8'))
  const found = blocks.filter((block) => block.language === language && block.place === word)
  const [block] = found
  if (block === undefined || found.length > 1)
    throw new Error(`${GUIDE} has ${found.length} blocks of ${language} ${word}`)
  return block.text
}

/** The service as far as the creation of a webhook needs it. */
interface WebhookService {
  /** The connector's configuration for it. */
  readonly config: object
  /** Where the webhooks that were created send to. */
  readonly destinations: readonly string[]
  close(): void
}

/** Answers each creation with this key. */
async function startWebhookService(key: string): Promise<WebhookService> {
  const destinations: string[] = []
  const server = createServer(async (request, response) => {
    const send = (status: number, answer: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
    if (request.url?.startsWith('/connect/token') === true)
      return send(200, { access_token: 'token', expires_in: 3600 })
    const asked = (await json(request)) as { readonly destinationUrl: string }
    destinations.push(asked.destinationUrl)
    const record = { id: 'w1', status: 'Enabled', validUntil: '2030-01-01T00:00:00Z', ...asked }
    return send(201, { ...record, privateKey: key })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    config: {
      tenant: 'demo',
      environment: { type: 'custom', base_url: origin, auth_url: origin },
      client_id: 'id',
      client_secret: 'secret',
    },
    destinations,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const KEY = 'k3y-é/+='

type Queue = 'postgresql' | 'redis'

/** The receiver of docs/webhook-events.md, which runs with a queue of its own. */
interface ReceiverRecipe {
  /** Sends a signed delivery; answers with its status. */
  deliver(body: string): Promise<number>
  /** Waits until it answers. */
  answering(): Promise<void>
  stop(): Promise<void>
}

/**
 * Installs what the recipe of a queue needs, the packed package for the published one, writes its files,
 * and creates its webhook.
 */
async function layOut(folder: string, queue: Queue, packed: string): Promise<void> {
  const service = await startWebhookService(KEY)
  mkdirSync(folder)
  const files = {
    'package.json': '{"type":"module"}',
    'config.json': JSON.stringify(service.config),
    'webhooks.json': recipe('json', 'receiver'),
    'receiver.js': recipe('js', 'receiver'),
    'queue.js': recipe('js', queue),
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const path = [join(folder, 'node_modules', '.bin'), process.env['PATH']].join(delimiter)
  const type = (commands: string) =>
    output({ program: 'sh', args: ['-e', '-c', commands], folder, environment: { PATH: path } })
  try {
    await type(withPackage(recipe('sh', queue), packed))
    await type(recipe('sh', 'create'))
    const paths = service.destinations.map((destination) => new URL(destination).pathname)
    expectSame(paths, [webhookPath()])
  } finally {
    service.close()
  }
}

function webhookPath(): string {
  const [path = ''] = Object.keys(JSON.parse(recipe('json', 'receiver')) as object)
  return path
}

async function startReceiverRecipe(
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<ReceiverRecipe> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}${webhookPath()}`
  const program: Program = start('node receiver.js', {
    folder,
    environment: { ...environment, PORT: String(port) },
  })
  const post = (body: string, authorization: string) =>
    fetch(url, { method: 'POST', body, headers: { authorization } })
  return {
    deliver: async (body) => (await post(body, await sign(body, KEY))).status,
    async answering() {
      const statusOf = () =>
        post('', '').then(
          ({ status }) => status,
          () => 0,
        )
      for (let tries = 0; (await statusOf()) !== 401; tries++) {
        if (tries === 100) throw new Error('the receiver does not answer')
        await sleep(100)
      }
    },
    stop: () => program.kill('SIGTERM'),
  }
}

/** The recipe of docs/webhook-events.md for PostgreSQL. */
async function tryPostgreSqlRecipe({ folder, step }: Tools, packed: string): Promise<void> {
  const server = await startPostgreSql(folder)
  const home = join(folder, 'events')
  await layOut(home, 'postgresql', packed)
  await server.query(recipe('sql', 'postgresql'))
  const receiver = await startReceiverRecipe(home, {
    PGHOST: '127.0.0.1',
    PGPORT: String(server.port),
    PGUSER: server.user,
    PGPASSWORD: server.password,
    PGDATABASE: 'postgres',
  })
  const select = async (columns: string, from: string) =>
    (await server.query(`select ${columns} from ${from} order by received_at`)).trim().split('\n')
  try {
    await receiver.answering()
    const [newer, older] = ['00B', '00A'].map(
      (version) => `{"changeVersion":"${version}","id":9007199254740993,"hours":7.10,"name":"Zoë"}`,
    ) as [string, string]
    await step('PostgreSQL has each event once, as it was sent, and knows the newest', async () => {
      for (const body of [newer, older, newer]) expectSame(await receiver.deliver(body), 200)
      expectSame(await select('body', 'protime_events'), [newer, older])
      expectSame(await select('body', 'protime_newest'), [newer])
      const columns = "concat_ws(' ', collection, id, change_version, deleted)"
      expectSame((await select(columns, 'protime_newest'))[0], 'clockings 9007199254740993 00B')
    })
    await step('a deletion with the version of its record is an event of its own', async () => {
      const body = `{"changeType":"Delete","data":${newer}}`
      expectSame(await receiver.deliver(body), 200)
      expectSame(await select('body', 'protime_newest'), [body])
    })
    await step('what PostgreSQL cannot store is answered 503 and may come again', async () => {
      const body = '{"changeVersion":"00C","id":1}'
      await server.query('alter table protime_events rename to elsewhere')
      expectSame(await receiver.deliver(body), 503)
      await server.query('alter table elsewhere rename to protime_events')
      expectSame(await receiver.deliver(body), 200)
      expectSame((await select('body', 'protime_events')).at(-1), body)
    })
  } finally {
    await receiver.stop()
    await server.stop()
  }
}

const DELIVERIES = 200

/** The recipe of docs/webhook-events.md for Redis Streams. */
async function tryRedisRecipe({ folder, step }: Tools, packed: string): Promise<void> {
  if (!existsSync('/usr/bin/redis-server')) installDebian('redis-server')
  const port = String(await freePort())
  const data = join(folder, 'redis')
  mkdirSync(data)
  const environment = { REDIS_PORT: port, REDIS_DIR: data }
  const startRedis = () => start(recipe('sh', 'server').trim(), { folder, environment })
  const home = join(folder, 'streams')
  await layOut(home, 'redis', packed)
  const settings = { REDIS_URL: `redis://127.0.0.1:${port}` }
  let redis = startRedis()
  await redisAnswers(port)
  const receiver = await startReceiverRecipe(home, settings)
  const stored = () => ask(port, 'XRANGE', 'protime:events', '-', '+')
  try {
    await receiver.answering()
    await step('what was answered 200 is in Redis after kill -9', async () => {
      const answers = Array.from({ length: DELIVERIES }, async (_, i) => {
        const body = record(i, '00A')
        await sleep(i * 5)
        return { body, status: await receiver.deliver(body) }
      })
      await sleep((DELIVERIES * 5) / 2)
      await redis.kill()
      const all = await Promise.all(answers)
      redis = startRedis()
      await redisAnswers(port)
      const [good, refused] = [200, 503].map((wanted) =>
        all.filter(({ status }) => status === wanted),
      )
      expectSame([good?.length === 0, refused?.length === 0], [false, false])
      expectSame((good?.length ?? 0) + (refused?.length ?? 0), DELIVERIES)
      const text = stored()
      expectSame(
        good?.filter(({ body }) => !text.includes(body)),
        [],
      )
    })
    await step('a delivery that was refused is stored when Redis is back', async () => {
      const body = record(DELIVERIES, '00A')
      while ((await receiver.deliver(body)) !== 200) await sleep(100)
      expectSame(stored().includes(body), true)
    })
    await step(
      'a consumer applies the newest versions, and what a killed one had taken',
      async () => {
        ask(port, 'DEL', 'protime:events')
        writeFileSync(join(home, 'consumer.js'), recipe('js', 'consumer'))
        ask(port, 'XGROUP', 'CREATE', 'protime:events', 'warehouse', '0', 'MKSTREAM')
        const versions = ['00C', '00A', '00B', '00C', '00D'].map((version) => record(1, version))
        const bodies = [...versions, `{"changeType":"Delete","data":${record(1, '00D')}}`]
        for (const body of bodies) expectSame(await receiver.deliver(body), 200)
        // What a consumer has taken that was killed before it had applied anything.
        ask(
          port,
          'XREADGROUP',
          'GROUP',
          'warehouse',
          'consumer-1',
          'COUNT',
          '2',
          'STREAMS',
          'protime:events',
          '>',
        )
        const consumer = start('node consumer.js', { folder: home, environment: settings })
        try {
          await applied(consumer, [bodies[0], bodies[4], bodies[5]])
          expectSame(ask(port, 'XPENDING', 'protime:events', 'warehouse').split('\n')[0], '0')
        } finally {
          await consumer.kill()
        }
      },
    )
  } finally {
    await receiver.stop()
    await redis.kill()
  }
}

function record(id: number, version: string): string {
  return JSON.stringify({ changeVersion: version, id, name: 'Zoë' })
}

async function applied(consumer: Program, bodies: readonly (string | undefined)[]): Promise<void> {
  const expected = bodies.map((body) => `{"collection":"clockings","body":${body}}\n`).join('')
  for (let tries = 0; consumer.said().length < expected.length; tries++) {
    if (tries === 100) break
    await sleep(100)
  }
  expectSame(consumer.said(), expected)
}

async function redisAnswers(port: string): Promise<void> {
  for (let tries = 0; ask(port, 'PING') !== 'PONG\n'; tries++) {
    if (tries === 100) throw new Error('Redis did not start')
    await sleep(100)
  }
}

/** What Redis answers, unquoted; empty when it is away. */
function ask(port: string, ...words: readonly string[]): string {
  try {
    return execFileSync('redis-cli', ['-p', port, '--raw', ...words], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return ''
  }
}

/** The recipes of docs/webhook-events.md: events in a queue of one's own, by the package that is packed here. */
export const queues: Engine = {
  name: 'queues',
  requirements: [],
  async run(tools) {
    const packed = await packNpm(tools.projectFolder, tools.folder)
    await tryPostgreSqlRecipe(tools, packed)
    await tryRedisRecipe(tools, packed)
  },
}
