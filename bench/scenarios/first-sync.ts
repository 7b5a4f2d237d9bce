import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { streams } from '../../src/streams/streams.ts'
import { withConnector } from '../connector.ts'
import { startEmulated } from '../emulated.ts'
import { measure } from '../measure.ts'

/** A tenant of the emulator, and what its answers take. */
interface Tenant {
  readonly people: number
  readonly months: number
  readonly latencyMs: number
}

const TENANTS: readonly Tenant[] = [
  { people: 25, months: 12, latencyMs: 0 },
  { people: 100, months: 24, latencyMs: 0 },
  { people: 400, months: 24, latencyMs: 0 },
  { people: 100, months: 24, latencyMs: 100 },
]
const PAGE_SIZE = 1000
const COLUMNS = ['people', 'months', '     rows', 'requests', 's/answer', 'seconds', 'peak MB']

/**
 * How long the first sync of all streams takes, by the size of the tenant: on loopback, which is what the
 * connector itself takes, and with answers that take 100 ms, as over the internet.
 */
export async function* firstSync(): AsyncGenerator<string> {
  yield COLUMNS.join('  ')
  for (const tenant of TENANTS) yield await firstSyncOf(tenant)
}

async function firstSyncOf({ people, months, latencyMs }: Tenant): Promise<string> {
  const flags = { people, months, 'latency-ms': latencyMs, 'page-size': PAGE_SIZE }
  const emulated = await startEmulated(flags)
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const metrics = join(folder, 'sync.prom')
  const settings = { ...emulated.config, start_date: '2024-01-01' }
  const reading = { origin: '', streams: [...streams.keys()], settings }
  try {
    const { seconds, peakMegabytes } = await withConnector(reading, (program) =>
      measure([...program, '--metrics', metrics]),
    )
    const text = readFileSync(metrics, 'utf8')
    const cells = [
      people,
      months,
      sumOf('stream_rows', text),
      sumOf('requests', text),
      (latencyMs / 1000).toFixed(1),
      seconds.toFixed(1),
      peakMegabytes.toFixed(0),
    ]
    return cells.map((cell, i) => String(cell).padStart(COLUMNS[i]?.length ?? 0)).join('  ')
  } finally {
    rmSync(folder, { recursive: true })
    await emulated.stop()
  }
}

/** The samples of a metric, added up. */
function sumOf(metric: string, text: string): number {
  const samples = text.matchAll(new RegExp(`^protime_sync_${metric}\\{.*\\} (.*)$`, 'gm'))
  return [...samples].reduce((sum, [, value]) => sum + Number(value), 0)
}
