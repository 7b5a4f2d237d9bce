import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Answers, type Destination, deliver, dribble } from '../deliveries.ts'
import { type Cost, here, type Judged, peakLine } from '../measure.ts'

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
