import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROJECT } from './connector.ts'
import { type Cost, here } from './measure.ts'

/** `bin/protime-emulator` in a process that is measured. */
export interface Emulated {
  /** A configuration with which the connector reads it. */
  readonly config: EmulatedConfig
  /** Seconds from its start until the tenant was there. */
  readonly readySeconds: number
  stop(): Promise<Cost>
}

/** What a benchmark needs to know of the configuration. */
export interface EmulatedConfig {
  readonly environment: { readonly base_url: string; readonly api_name: string }
  /** The first day of dated records. */
  readonly start_date: string
}

/** Starts the emulator with these flags on free ports. Throws when it does not start. */
export async function startEmulated(flags: Readonly<Record<string, number>>): Promise<Emulated> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'))
  const file = join(folder, 'cost.json')
  const words = Object.entries({ ...flags, port: 0, 'control-port': 0 }).flatMap(
    ([flag, value]) => [`--${flag}`, String(value)],
  )
  const program = ['--import', here('report-cost.js'), join(PROJECT, 'bin/protime-emulator')]
  const began = performance.now()
  const child = spawn(process.execPath, [...program, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, BENCH_COST: file },
  })
  const ended = once(child, 'close')
  let said = ''
  while (!said.includes('\n}\n')) {
    const [part] = await Promise.race([once(child.stdout, 'data'), ended])
    if (!Buffer.isBuffer(part)) {
      rmSync(folder, { recursive: true })
      throw new Error('The emulator did not start')
    }
    said += part.toString()
  }
  return {
    config: JSON.parse(said.slice(said.indexOf('{'))),
    readySeconds: (performance.now() - began) / 1000,
    async stop() {
      child.kill()
      await ended
      const cost = JSON.parse(readFileSync(file, 'utf8')) as Cost
      rmSync(folder, { recursive: true })
      return cost
    },
  }
}
