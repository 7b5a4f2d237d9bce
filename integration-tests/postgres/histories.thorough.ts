import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmulator } from '../../emulator/emulator.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { streams as catalogue } from '../../src/streams/streams.ts'
import { events, inserts, narrow, oddInDuckDb } from '../histories/arbitrary-events.ts'
import type { Event } from '../histories/history.ts'
import { DAY_MS, runSettings } from '../histories/property.ts'
import { createTenant } from '../histories/tenant.ts'
import { protime, verifiedDifferences } from '../testing/protime.ts'
import { forgotten, inFile, inSchema, type Remembered, remember } from './as-of.ts'
import { flatDifferences } from './flat-views.ts'
import { startServer, type TestServer } from './server.ts'

let server: TestServer
let schemas = 0
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())

/** Changes of a few records, also by members that no schema has, in as many turns as there are lists of them. */
const focus = {
  ...narrow,
  stream: fc.nat(1),
  // A text of 42 million characters takes minutes in two warehouses.
  odd: oddInDuckDb.filter(({ value }) => !JSON.stringify(value).includes('$repeat')),
}
const histories = fc.record({
  seed: fc.integer({ min: 1, max: 1000 }),
  stream: fc.constantFrom('contracts', 'clockings', 'activity_durations', 'absences'),
  seeded: fc.array(inserts(focus), { minLength: 2, maxLength: 8 }),
  turns: fc.array(
    fc.record({
      events: fc.array(events(focus), { minLength: 1, maxLength: 8 }),
      /** The months that are kept from then on; 0 keeps all. */
      months: fc.constantFrom(0, 0, 1, 3),
    }),
    { minLength: 3, maxLength: 6 },
  ),
})

interface TwoWarehouses {
  readonly seed: number
  readonly stream: string
  readonly seeded: readonly Extract<Event, { do: 'change' }>['change'][]
  readonly turns: readonly { readonly events: readonly Event[]; readonly months: number }[]
}

/** Syncs a tenant into both engines after each turn, and throws where they or the service differ. */
async function land({ seed, stream, seeded, turns }: TwoWarehouses): Promise<void> {
  const emulator = await startEmulator({ seed, people: 0, months: 0, pageSize: 3 })
  const folder = mkdtempSync(join(tmpdir(), 'histories-'))
  const [file, schema] = [join(folder, 'tenant.duckdb'), `history_${++schemas}`]
  const names = [stream, 'people']
  try {
    const all = names.map((name) => catalogue.get(name) as Stream)
    const tenant = createTenant(emulator, all)
    for (const change of seeded) tenant.happen({ do: 'change', change })
    const path = join(folder, 'config.json')
    const warehouses = [
      { address: file, asked: inFile(file) },
      { address: server.address(schema), asked: inSchema(server, schema) },
    ].map((one) => ({ ...one, remembered: new Map<string, Remembered[]>() }))
    let hasLeft = false
    for (const { events, months } of [{ events: [], months: 0 }, ...turns]) {
      const kept = months === 0 ? {} : { retain_months: months }
      const config = { ...emulator.config(), future_days: 730, history: true, ...kept }
      writeFileSync(path, JSON.stringify(config), { mode: 0o600 })
      for (const event of events) tenant.happen(event)
      hasLeft ||= months > 0
      for (const { address, asked, remembered } of warehouses) {
        const words = ['--warehouse', address, '--streams', names.join(',')]
        const { exitCode, stderr } = await protime('sync', '--config', path, ...words)
        expect([exitCode, stderr]).toEqual([0, stderr])
        expect(await verifiedDifferences(config, ...words)).toEqual([])
        for (const name of names) {
          const before = remembered.get(name) ?? []
          for (const then of before) {
            const { lacking, superfluous } = await forgotten(asked, name, then)
            // Days that are no longer kept leave what was before, too.
            const isKept = !hasLeft || name === 'people'
            expect([superfluous, isKept ? lacking : []]).toEqual([[], []])
          }
          const now = await remember(asked, name)
          remembered.set(name, now === undefined ? before : [...before, now])
        }
      }
      expect(await flatDifferences(server, schema, file)).toEqual([])
    }
  } finally {
    await emulator.close()
    await server.query(
      `DROP SCHEMA IF EXISTS ${schema}, ${schema}_flat, ${schema}_history, ${schema}_meta CASCADE`,
    )
    rmSync(folder, { recursive: true })
  }
}

describe('a random history', () => {
  it(
    'makes DuckDB and PostgreSQL equal to the service and to each other at every change',
    async () => {
      const { runs, endOnFailure } = runSettings(4)
      await fc.assert(fc.asyncProperty(histories, land), { numRuns: runs, endOnFailure })
    },
    DAY_MS,
  )
})
