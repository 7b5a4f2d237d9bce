import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Emulator, type EmulatorOptions, startEmulator } from '../../emulator/emulator.ts'
import { completed, runSync, type SyncRun } from '../histories/run-sync.ts'
import { createPlatform, type Platform } from '../histories/warehouses.ts'
import { writeFiles } from './files.ts'
import { ask, protime, verify } from './protime.ts'

/** How `protime sync` ended. */
interface Synced {
  readonly exitCode: number
  readonly stderr: string
  readonly failures: readonly { readonly type: string; readonly stream: string }[]
}

/** A tenant with a warehouse of `protime sync`, and with warehouses that Airbyte and Singer fill. */
export interface SyncedTenant {
  readonly emulator: Emulator
  readonly folder: string
  /** A DuckDB file, or an address. */
  readonly warehouse: string
  /** Settings of the configuration from the next sync on. */
  readonly settings: Record<string, unknown>
  /** `protime sync` into the warehouse. */
  sync(...words: readonly string[]): Promise<Synced>
  verify(...words: readonly string[]): ReturnType<typeof verify>
  /** What the warehouse answers. */
  ask(sql: string): ReturnType<typeof ask>
  /** The number of rows of each stream in the warehouse, or in another file. */
  counts(file?: string): Promise<Record<string, number>>
  /** A sync by another protocol, which dies after so many lines; 0 lets it live. */
  read(place: 'in-process' | 'singer', killAfter?: number): Promise<SyncRun>
  /** What that protocol has filled. */
  readonly platforms: Readonly<Record<'in-process' | 'singer', Platform>>
  /** The number of rows of each stream there. */
  held(place: 'in-process' | 'singer'): Record<string, number>
  close(): Promise<void>
}

export async function startSyncedTenant(
  streams: readonly string[],
  options: EmulatorOptions,
  address?: string,
): Promise<SyncedTenant> {
  const emulator = await startEmulator(options)
  const folder = mkdtempSync(join(tmpdir(), 'synced-'))
  const warehouse = address ?? join(folder, 'w.duckdb')
  const settings: Record<string, unknown> = { concurrency: 1 }
  const platforms = { 'in-process': createPlatform(), singer: createPlatform() }
  const config = () => ({ ...emulator.config(), ...settings })
  const configured = () => writeFiles(folder, { config: config() })
  const words = (...more: readonly string[]) => {
    return [...configured(), '--warehouse', warehouse, '--streams', streams.join(), ...more]
  }
  const askIn = async (place: string, sql: string) => {
    if (place !== address) return ask(place, sql)
    const { stdout } = await protime('query', ...configured(), '--warehouse', place, '--json', sql)
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  }
  const countsOf = (count: (stream: string) => number) =>
    Object.fromEntries(streams.map((stream) => [stream, count(stream)]))
  return {
    emulator,
    folder,
    warehouse,
    settings,
    platforms,
    async sync(...more) {
      emulator.advance({ minutes: 1 })
      const { exitCode, stdout, stderr } = await protime('sync', '--quiet', ...words(...more))
      return { exitCode, stderr, failures: JSON.parse(stdout).failures }
    },
    ask: (sql) => askIn(warehouse, sql),
    verify: (...more) => verify(...words(...more)),
    async counts(file = warehouse) {
      const rows = await askIn(
        file,
        streams.map((s) => `SELECT '${s}' AS s, count(*)::INT AS n FROM ${s}`).join(' UNION ALL '),
      )
      return countsOf((stream) => Number(rows.find(({ s }) => s === stream)?.['n']))
    },
    async read(place, killAfter = 0) {
      emulator.advance({ minutes: 1 })
      const platform = platforms[place]
      platform.begin(streams)
      const catalog = streams.map((name) => ({ name, sync_mode: 'incremental' as const }))
      const ended = await runSync(place, {
        config: config(),
        catalog,
        state: platform.state,
        killAfter,
      })
      platform.load({ ...ended, completed: completed(ended.messages) }, 'committed')
      return ended
    },
    held: (place) => countsOf((stream) => platforms[place].warehouses[0]?.rows(stream).size ?? 0),
    async close() {
      await emulator.close()
      rmSync(folder, { recursive: true })
    },
  }
}
