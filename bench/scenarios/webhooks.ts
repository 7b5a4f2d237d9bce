import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { deliveryPath, sign } from '../../src/webhooks/receive/delivery.ts'
import { clocking } from '../connector.ts'
import { type Cost, here, type Judged, peakLine } from '../measure.ts'

/** Where deliveries go. */
export interface Destination {
  readonly port: number
  readonly collection: string
  /** The last segment of the path. */
  readonly nonce: string
  readonly key: string
}

/** What became of deliveries: how many got which answer, and how long each took. */
export interface Answers {
  readonly counts: ReadonlyMap<number | string, number>
  /** In milliseconds, from the moment at which the delivery was due, sorted. */
  readonly times: readonly number[]
}

const BODIES = 1000

/** Sends so many signed records per second, whether or not the ones before are answered. */
export async function deliver(
  to: Destination,
  perSecond: number,
  seconds: number,
): Promise<Answers> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const signed = await Promise.all(
    Array.from({ length: BODIES }, async (_, i) => {
      const body = Buffer.from(clocking(i))
      return { body, authorization: await sign(body, to.key) }
    }),
  )
  const path = deliveryPath(to)
  const counts = new Map<number | string, number>()
  const times: number[] = []
  const sent: Promise<void>[] = []
  const start = performance.now()
  for (let number = 0; number < perSecond * seconds; number++) {
    const due = start + (number * 1000) / perSecond
    if (due > performance.now()) await sleep(due - performance.now())
    const { body, authorization } = signed[number % BODIES] ?? { body: '', authorization: '' }
    sent.push(
      post(body, { authorization, 'content-length': body.length }).then((answer) => {
        times.push(performance.now() - due)
        counts.set(answer, (counts.get(answer) ?? 0) + 1)
      }),
    )
  }
  await Promise.all(sent)
  agent.destroy()
  return { counts, times: times.toSorted((a, b) => a - b) }

  function post(body: Buffer | string, headers: Record<string, string | number>) {
    return new Promise<number | string>((resolve) => {
      request({ port: to.port, host: '127.0.0.1', path, method: 'POST', agent, headers })
        .on('response', (response) => {
          response.resume().on('end', () => resolve(response.statusCode ?? 0))
        })
        .on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.name))
        .end(body)
    })
  }
}

/**
 * Keeps so many connections open that send a byte each second: of their headers, or of a body that does
 * not end. Those that the server closes are opened again, until the returned function is called.
 */
export function dribble(to: Destination, { headers, bodies }: { headers: number; bodies: number }) {
  const path = deliveryPath(to)
  const head = `POST ${path} HTTP/1.1\r\nHost: hooks\r\nContent-Length: 1000\r\n`
  const sockets = new Set<Socket>()
  let isOver = false
  const all = [
    ...Array.from({ length: headers }, () => keep(head)),
    ...Array.from({ length: bodies }, () => keep(`${head}\r\n`)),
  ]
  return async () => {
    isOver = true
    for (const socket of sockets) socket.destroy()
    await Promise.all(all)
  }

  async function keep(begin: string): Promise<void> {
    while (!isOver) {
      const socket = connect(to.port, '127.0.0.1').on('error', () => {})
      sockets.add(socket)
      socket.write(begin)
      const timer = setInterval(() => socket.write('x'), 1000)
      await once(socket.resume(), 'close')
      sockets.delete(socket)
      clearInterval(timer)
    }
  }
}

/** Another duration than a minute: `BENCH_SECONDS=5 npm run bench -- webhooks`. */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 60)
const PER_SECOND = 1000
const SLOW = { headers: 500, bodies: 200 }
const WITHIN_MS = 250

/** A thousand deliveries per second to the receiver, alone and beside 700 connections that dribble. */
export async function* webhooks(): AsyncGenerator<string | Judged> {
  for (const slow of [undefined, SLOW]) {
    const beside = slow === undefined ? 'alone' : 'beside 700 slow connections'
    const { answers, cost } = await withReceiver(async (to) => {
      const stop = slow && dribble(to, slow)
      const answered = await deliver(to, PER_SECOND, SECONDS)
      await stop?.()
      return answered
    })
    yield* linesOf(answers, cost, beside)
  }
}

function* linesOf(
  { counts, times }: Answers,
  cost: Cost,
  beside: string,
): Generator<string | Judged> {
  const said = [...counts].map(([answer, count]) => `${count} times ${answer}`).join(', ')
  const total = PER_SECOND * SECONDS
  yield {
    line: `${total} deliveries in ${SECONDS} s, ${beside}: ${said} (200 each)`,
    isMet: counts.get(200) === total,
  }
  const slowest = quantile(times, 0.99)
  yield {
    line: `median ${quantile(times, 0.5).toFixed(1)} ms, 99 % within ${slowest.toFixed(1)} ms (under ${WITHIN_MS})`,
    isMet: slowest < WITHIN_MS,
  }
  yield peakLine('receiver', cost.peakMegabytes, 150)
  yield `${((cost.cpuSeconds / total) * 1000).toFixed(2)} CPU ms per delivery, its start included`
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

/** Runs work against a receiver in a process of its own, and measures that process. */
async function withReceiver(
  work: (to: Destination) => Promise<Answers>,
): Promise<{ readonly answers: Answers; readonly cost: Cost }> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'cost.json')
  const [collection, key] = ['clockings', 'a-key-of-a-webhook']
  const args = ['--import', here('report-cost.js'), here('receiver.js'), `${collection}=${key}`]
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_COST: file },
  })
  try {
    const [port] = await once(child.stdout, 'data')
    const nonce = 'n'.repeat(22)
    const answers = await work({ port: Number(port), collection, nonce, key })
    child.stdin.end()
    await once(child, 'close')
    return { answers, cost: JSON.parse(readFileSync(file, 'utf8')) as Cost }
  } finally {
    child.kill()
    rmSync(folder, { recursive: true })
  }
}
