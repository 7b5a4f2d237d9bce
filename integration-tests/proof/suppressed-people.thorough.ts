import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { personCodes } from '../../src/privacy/person-codes.ts'
import { personIdsIn, personPathsOf, personStreams } from '../../src/streams/person-paths.ts'
import type { Row, Tenant } from '../engines/tenant.ts'
import { ask, protime, verify } from '../testing/protime.ts'
import { run, tap } from '../testing/run.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'
import { createSingerWarehouse, createWarehouse } from '../testing/warehouse.ts'

const KEY = 'Wq3-xkT9_mB7vZ2p'
const NAMES = [...personStreams().keys()]

let folder: string
let tenant: Tenant
let id: number
let suppressing: Row
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
  id = Number(tenant.emulator.all('people')[2]?.['id'])
  const code = personCodes({ key: KEY, tenant: String(tenant.config['tenant']) }).of(String(id))
  suppressing = { ...tenant.config, privacy_key: KEY, suppressed_people: [code] }
})

const isPersons = (stream: string) => (row: Row) =>
  personIdsIn(row, personPathsOf(stream)).includes(String(id))

/** The rows of the person, and of everybody else, that a warehouse has of all streams with people. */
function countsOf(rowsOf: (stream: string) => Iterable<Row>) {
  return NAMES.map((stream) => {
    const rows = [...rowsOf(stream)]
    const own = rows.filter(isPersons(stream)).length
    return { stream, own, others: rows.length - own }
  })
}

async function expected(isSuppressed: boolean) {
  const truth = new Map<string, readonly Row[]>()
  for (const stream of NAMES) truth.set(stream, await tenant.truth(stream))
  const counts = countsOf((stream) => truth.get(stream) ?? [])
  expect(counts.every(({ own }) => own > 0)).toBe(true)
  return isSuppressed ? counts.map((count) => ({ ...count, own: 0 })) : counts
}

/** Gives somebody else's row to the person, and changes a row of the person. */
function change(): void {
  const { emulator } = tenant
  const [own, other] = [true, false].map((is) =>
    emulator.all('clockings').find((row) => isPersons('clockings')(row) === is),
  )
  emulator.update('clockings', Number(own?.['id']), { timeOfDayInMinutes: 1 })
  emulator.update('clockings', Number(other?.['id']), { person: { id } })
}

it('Airbyte: records of a suppressed person are deleted, and left out from then on', async () => {
  const warehouse = createWarehouse('highest-cursor')
  const rows = () => countsOf((stream) => warehouse.rows(stream).values())
  const read = async (config: object, state?: unknown) => {
    const done = await run({
      ...{ program: 'source-protime', command: 'read', in: 'process' },
      config,
      catalog: NAMES,
      state,
    })
    expect(done.exitCode, done.stderr).toBe(0)
    warehouse.load(done.messages)
    return done
  }
  const first = await read(tenant.config)
  expect(rows()).toEqual(await expected(false))
  const second = await read(suppressing, first.state)
  expect(rows()).toEqual(await expected(true))
  const sent = second.messages.flatMap(({ record }) => (record === undefined ? [] : [record]))
  expect(sent.filter(({ stream, data }) => isPersons(stream)(data) && stream !== 'people')).toEqual(
    [],
  )
  change()
  const third = await read(suppressing, second.state)
  expect(rows()).toEqual(await expected(true))
  const back = await read(tenant.config, third.state)
  expect(rows()).toEqual(await expected(false))
  expect(back.exitCode).toBe(0)
})

it('Singer: records of a suppressed person are deleted, and left out from then on', async () => {
  const warehouse = createSingerWarehouse(false)
  const rows = () => countsOf((stream) => warehouse.rows(stream).values())
  const read = async (config: Row, state?: unknown) => {
    const done = await tap({ in: 'process', config: { ...config, streams: NAMES }, state })
    expect(done.exitCode, done.stderr).toBe(0)
    warehouse.load(done.messages)
    return done.state
  }
  const first = await read(tenant.config)
  const second = await read(suppressing, first)
  expect(rows()).toEqual(await expected(true))
  change()
  await read(suppressing, second)
  expect(rows()).toEqual(await expected(true))
})

it('protime sync: rows of a suppressed person go, are erased though the service lists them, and stay away', async () => {
  const [file, warehouse] = [join(folder, 'config.json'), join(folder, 'acme.duckdb')]
  const words = ['--config', file, '--warehouse', warehouse]
  const sync = (config: object) => {
    writeFileSync(file, JSON.stringify({ ...config, streams: [...NAMES, 'inventory'] }), {
      mode: 0o600,
    })
    return protime('sync', ...words, '--quiet')
  }
  const mark = 'Name-Of-One-Person'
  tenant.emulator.update('people', id, { lastName: mark })
  expect(await sync(tenant.config)).toMatchObject({ exitCode: 0 })
  expect(readFileSync(warehouse).includes(mark)).toBe(true)
  expect(await sync(suppressing)).toMatchObject({ exitCode: 0 })
  expect(await protime('person', 'export', String(id), ...words)).toMatchObject({ exitCode: 4 })
  expect(await verify(...words)).toMatchObject({ exitCode: 0, differences: [] })
  change()
  expect(await sync(suppressing)).toMatchObject({ exitCode: 0 })
  expect(await protime('person', 'erase', String(id), ...words)).toMatchObject({ exitCode: 4 })
  expect(readFileSync(warehouse).includes(mark)).toBe(false)
  const sums = await ask(
    warehouse,
    "SELECT records::INT AS records FROM inventory WHERE stream = 'people' AND part = 'all'",
  )
  expect(sums).toEqual([{ records: tenant.emulator.all('people').length - 1 }])
  const shown = await protime('preview', 'people', '--json', '--limit', '100', '--config', file)
  expect(shown.stdout).not.toContain(`"id":${id},`)
  expect(await verify(...words)).toMatchObject({ exitCode: 0, differences: [] })
})

it('protime person erase does not wait for references of contracts that the service keeps of a suppressed person', async () => {
  const file = join(folder, 'config.json')
  const words = ['--config', file, '--warehouse', join(folder, 'acme.duckdb')]
  const configure = (config: object) => {
    const streams = ['people', 'contracts', 'external_references']
    writeFileSync(file, JSON.stringify({ ...config, streams }), { mode: 0o600 })
  }
  const contract = tenant.emulator.all('contracts').find(isPersons('contracts'))
  tenant.emulator.setReference('contracts', 'payroll', 'P-1042', Number(contract?.['id']))
  configure(tenant.config)
  await protime('sync', ...words, '--quiet')
  configure(suppressing)
  expect(await protime('person', 'erase', String(id), ...words)).toMatchObject({ exitCode: 0 })
})
