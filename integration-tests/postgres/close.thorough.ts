import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Tenant } from '../engines/tenant.ts'
import { protime } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'
import { startServer, type TestServer } from './server.ts'

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

/** Runs a command with the configuration of the tenant. */
function run(settings: object, ...words: readonly string[]) {
  const config = join(folder, 'config.json')
  const warehouse = server.address('closes')
  const streams = ['people', 'calculated_totals']
  const all = { ...tenant.config, warehouse, streams, ...settings }
  writeFileSync(config, JSON.stringify(all), { mode: 0o600 })
  return protime(...words, '--config', config)
}

/** A month that is over, whatever the clock of this machine says, and one that is not. */
const [past, running] = [-1, 0].map((months) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1))
    .toISOString()
    .slice(0, 7)
}) as [string, string]

describe('protime close in PostgreSQL', () => {
  it('closes a month that is over and read, and says why it does not close another one', async () => {
    const refusal = async (settings: object, month: string) => {
      const { exitCode, stderr } = await run(settings, 'close', month)
      return [exitCode, stderr.trim()]
    }
    const history = { history: true }
    expect(await refusal({}, past)).toEqual([
      2,
      expect.stringMatching(/^protime: .* is not a warehouse of protime sync\./),
    ])
    await run({}, 'sync')
    expect(await refusal({}, past)).toEqual([
      2,
      expect.stringMatching(/^protime: .* keeps no history, so nobody could say later/),
    ])
    await run(history, 'sync')
    expect(await refusal({}, running)).toEqual([
      2,
      expect.stringMatching(
        /^protime: \d{4}-\d\d is not over: its last day is \d{4}-\d\d-\d\d\. \[period-not-over\]$/,
      ),
    ])
    expect(await refusal({ streams: ['people', 'breaks'] }, past)).toEqual([
      2,
      `protime: breaks: not completed since ${past} was over. Run protime sync, then close ${past}. [period-not-read]`,
    ])
    expect(await refusal({}, 'october')).toEqual([
      2,
      'protime: october is not a month, such as 2026-10. Try --help. [command-line-not-valid]',
    ])
    // The inventory is of the sync itself, and has no history.
    const withInventory = { streams: ['people', 'calculated_totals', 'inventory'] }
    await run(withInventory, 'sync')
    const { exitCode, stdout } = await run(withInventory, 'close', past)
    const close = JSON.parse(stdout) as { period: string; closed_at: string }
    expect([exitCode, close.period]).toEqual([0, past])
    const stored = await server.query(
      `SELECT period, to_char(closed_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') FROM closes_meta.closes`,
    )
    expect(stored.trim()).toBe(`${past}|${close.closed_at}`)
  })
})
