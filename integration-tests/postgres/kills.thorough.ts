import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Script, send, streamOf, syncLists } from '../../src/warehouse/testing/list-source.ts'
import type { Tenant } from '../engines/tenant.ts'
import { protime, startProtime, verify } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'
import { startServer, type TestServer } from './server.ts'

const FEW = 'people,jobs,sectors,clockings,calculated_totals'
const CHANGES = { inserts: 60, updates: 60, deletes: 40, softDeletes: 5 }
const { HISTORIES_SCALE } = process.env
/** Of each kind, the second in a sync that reads everything anew; dozens each night. */
const KILLS = HISTORIES_SCALE === undefined ? 2 : 3 * Math.ceil(Number(HISTORIES_SCALE) / 5)

let server: TestServer
let folder: string
let tenant: Tenant
beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server?.stop())
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
})

function words(schema: string): string[] {
  const config = join(folder, 'config.json')
  // The deletes of many changes within a month would be withheld in the end.
  const settings = { ...tenant.config, max_missing: '100%' }
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 })
  return ['--config', config, '--warehouse', server.address(schema), '--streams', FEW]
}

const BACKENDS = "FROM pg_stat_activity WHERE application_name = 'protime'"

describe('after kills at any moment, the warehouse equals the service', () => {
  it.each<[string, (child: { kill(): void }) => Promise<unknown>]>([
    ['the process', async (child) => child.kill()],
    ['its connections', () => server.query(`SELECT pg_terminate_backend(pid) ${BACKENDS}`)],
    ['the server', () => server.crash()],
  ])(
    'of %s',
    async (what, kill) => {
      const schema = `killed_${what.replaceAll(' ', '_')}`
      await protime('sync', ...words(schema))
      for (let n = 0; n < KILLS; n++) {
        tenant.emulator.randomChanges(CHANGES)
        // Every other sync reads everything anew.
        if (n % 2 === 1) tenant.emulator.advance({ hours: 73 })
        const { child, ended, log } = startProtime(['sync', ...words(schema)])
        await expect.poll(log, { interval: 5 }).toContain('streams:')
        await sleep((n * 37) % 200)
        await kill({ kill: () => child.kill('SIGKILL') })
        await ended
        const next = await protime('sync', '--wait', '20s', ...words(schema))
        expect(next, next.stderr).toMatchObject({ exitCode: 0 })
        const { exitCode, differences } = await verify(...words(schema))
        expect([exitCode, differences]).toEqual([0, []])
      }
      const left = await server.query(
        `SELECT relname FROM pg_class WHERE relnamespace = '${schema}_meta'::regnamespace AND relkind = 'r' AND relname ~ '^(_protime|next)'`,
      )
      expect(left).toBe('')
      expect(await server.query(`SELECT count(*) ${BACKENDS}`)).toBe('0\n')
    },
    3_600_000,
  )
})

describe('a read of all rows', () => {
  const text = { type: ['string', 'null'] }
  const jobs = streamOf('jobs', { name: text, day: { ...text, format: 'date' } })
  let schemas = 0

  async function read(generation: number, name: string, between: Script = async () => {}) {
    const rows = (...ids: readonly number[]) => ids.map((id) => JSON.stringify({ id, name }))
    const script: Script = async (output) => {
      await send(output, rows(1, 2, 3), generation)
      await output.checkpoint({ flush: true })
      await between(output)
      await send(output, rows(4), generation)
      output.note({ type: 'generation complete', generation })
      await output.complete()
    }
    return syncLists(server.address(`crashed_${schemas}`), new Map([[jobs, script]]))
  }

  it.each<[string, Script]>([
    ['its last rows come', async () => {}],
    [
      'days leave the warehouse',
      async (output) => {
        output.note({ type: 'left', field: 'day', day: '2026-01-01' })
        await output.checkpoint({ flush: true })
      },
    ],
  ])(
    'replaces nothing after a crash has emptied its rows before %s, and is made anew',
    async (_what, then) => {
      const names = () =>
        server.query(`SELECT string_agg(name, ',' ORDER BY id) FROM crashed_${schemas}.jobs`)
      schemas++
      await read(1, 'old')
      const { failures } = await read(2, 'new', async (output) => {
        await server.crash()
        await then(output)
      })
      expect(failures.map(({ error }) => [error.failure, error.id])).toEqual([
        ['transient', 'warehouse-not-reached'],
      ])
      expect(await names()).toBe('old,old,old,old\n')
      const again = await read(3, 'new')
      expect([again.failures, [...again.startedOver]]).toEqual([[], ['jobs']])
      expect(await names()).toBe('new,new,new,new\n')
    },
  )
})
