import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expectSame } from '../../answers.ts'
import { installDebian } from '../debian.ts'
import type { Tools } from '../engine.ts'
import { freePort } from '../free-port.ts'
import { type Program, start } from './program.ts'
import { layOut, startReceiverRecipe } from './receiver-recipe.ts'
import { recipe } from './recipe.ts'

const DELIVERIES = 200

/** The recipe of docs/webhooks.md for Redis Streams. */
export async function tryRedisRecipe({ folder, step }: Tools, packed: string): Promise<void> {
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
        const bodies = ['00C', '00A', '00B', '00C', '00D'].map((version) => record(1, version))
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
          await applied(consumer, [bodies[0], bodies[4]])
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
