import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { personStreams } from '../../src/streams/person-paths.ts'
import type { Row, Tenant } from '../engines/tenant.ts'
import { ask, protime, verify } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'

const NAME = 'Name-Of-One-Person'
const KEY = 'Wq3-xkT9_mB7vZ2p'

let folder: string
let tenant: Tenant
let warehouse: string
/** A person with a name that nobody else has. */
let id: number
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
  warehouse = join(folder, 'acme.duckdb')
  id = Number(tenant.emulator.all('people')[3]?.['id'])
  tenant.emulator.update('people', id, { lastName: NAME })
})

const isOwn = (row: Row) => (row['person'] as Row | undefined)?.['id'] === id

/** The commands with a configuration. */
function settle(config: Row) {
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify({ ...tenant.config, ...config }), { mode: 0o600 })
  const words = ['--config', file, '--warehouse', warehouse]
  return {
    words,
    sync: () => protime('sync', ...words, '--quiet'),
    async exported() {
      const { stdout } = await protime('person', 'export', String(id), ...words)
      return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]))
    },
    async erase(...own: string[]) {
      const run = await protime('person', 'erase', String(id), ...words, ...own)
      const receipt = run.stdout === '' ? {} : (JSON.parse(run.stdout) as Row)
      return { ...run, receipt }
    },
  }
}

/** Removes the person from the service, with all rows but those that are kept. */
function removeFromService(isKept: (row: Row) => boolean = () => false): void {
  const { emulator } = tenant
  for (const { referenceName, externalReference, internalReference } of emulator.references(
    'people',
  ))
    if (internalReference === String(id))
      emulator.removeReference('people', referenceName, externalReference)
  for (const stream of personStreams().keys()) {
    if (stream === 'external_references' || stream === 'people') continue
    const collection = stream.replaceAll('_', '-')
    for (const row of emulator.all(collection))
      if (isOwn(row) && !isKept(row)) emulator.remove(collection, Number(row['id']))
  }
  emulator.remove('people', id)
}

it('says that nothing was erased, not that a sync has failed, when the service cannot be asked', async () => {
  const { sync, erase } = settle({ streams: ['people'] })
  await sync()
  tenant.emulator.fail('/people', 403, { times: 9 })
  const { exitCode, stderr } = await erase()
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringMatching(/^protime: Nothing was erased\..*\[permission-missing\]\n$/),
  ])
})

it('takes no reference of a contract for that of the person whose it was before', async () => {
  const config = { streams: ['people', 'contracts', 'external_references'], history: true }
  const { words, sync, exported, erase } = settle({ ...config, privacy_key: KEY })
  const { emulator } = tenant
  const contract = Number(emulator.all('contracts').find(isOwn)?.['id'])
  const other = Number(emulator.all('people')[0]?.['id'])
  await sync()
  emulator.update('contracts', contract, { person: { id: other } })
  emulator.setReference('contracts', 'payroll', 'of-somebody-else', contract)
  await sync()
  expect(JSON.stringify(await exported())).not.toContain('of-somebody-else')
  removeFromService()
  await sync()
  expect(await erase()).toMatchObject({ exitCode: 0, receipt: { result: 'erased' } })
  expect(
    await ask(
      warehouse,
      "SELECT value FROM external_references WHERE name = 'payroll' AND collection = 'contracts'",
    ),
  ).toContainEqual({ value: 'of-somebody-else' })
  expect(await verify(...words)).toMatchObject({ exitCode: 0, differences: [] })
})

it('refuses while the service lists a row of the person on a day that no list of a sync has', async () => {
  const { sync, erase } = settle({ streams: ['people', 'absences'], future_days: 30 })
  const { emulator } = tenant
  emulator.insert('absences', { person: { id }, date: '2029-05-05' })
  await sync()
  removeFromService((row) => row['date'] === '2029-05-05')
  await sync()
  const { exitCode, stderr } = await erase()
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining('still lists the person in absences,'),
  ])
  emulator.remove('absences', Number(emulator.all('absences').find(isOwn)?.['id']))
  expect(await erase()).toMatchObject({ exitCode: 0 })
})

it('forgets the texts of the service in the account, which can name the person', async () => {
  const { words, sync, erase } = settle({
    streams: ['people', 'contracts', 'department_histories'],
  })
  const { emulator } = tenant
  await sync()
  removeFromService()
  const body = JSON.stringify({
    error: { code: 'BadRequest', message: `no department of ${NAME}` },
  })
  emulator.fail('/department-histories', 400, { times: 1, body })
  expect(await sync()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(NAME) })
  expect(readFileSync(warehouse).includes(NAME)).toBe(true)
  expect(await erase('--name', NAME)).toMatchObject({
    exitCode: 0,
    receipt: { searched: 1, found: 0, result: 'erased' },
  })
  expect(readFileSync(warehouse).includes(NAME)).toBe(false)
  const { stdout } = await protime('status', ...words)
  expect(stdout).toContain('request-not-accepted: protime person erase has removed the text')
})

it('forgets the ids of rows that a sync has deleted, as far as a history has them', async () => {
  const { sync, erase } = settle({ streams: ['people', 'contracts'], history: true })
  const contracts = tenant.emulator.all('contracts').filter(isOwn)
  await sync()
  removeFromService()
  await sync()
  const latest =
    "SELECT state->>'$.latest_changes' AS ids FROM _protime.states WHERE stream = 'contracts'"
  const [id] = contracts.map((row) => `[${row['id']},`)
  expect(String((await ask(warehouse, latest))[0]?.['ids'])).toContain(id)
  expect(await erase()).toMatchObject({ exitCode: 0 })
  expect(String((await ask(warehouse, latest))[0]?.['ids'])).not.toContain(id)
})

it('warns that a name is left in the file although no row of the person is', async () => {
  const { sync, erase } = settle({ streams: ['people', 'contracts'] })
  await sync()
  removeFromService()
  await sync()
  await ask(warehouse, `CREATE TABLE main.extract AS SELECT '${NAME}' AS who`)
  expect(await erase('--name', NAME)).toMatchObject({
    exitCode: 4,
    receipt: { found: 1, others: ['table main.extract'] },
    stderr: expect.stringContaining('[rows-to-judge]'),
  })
})

it('copies a table of others with a generated column', async () => {
  const { sync, erase } = settle({ streams: ['people', 'contracts'] })
  await sync()
  removeFromService()
  await ask(
    warehouse,
    `CREATE TABLE main.own (a INT, b INT GENERATED ALWAYS AS (a * 2), source STRUCT(c INT));
      INSERT INTO main.own VALUES (4, {c: 1}); CREATE TABLE main.none AS FROM main.own LIMIT 0`,
  )
  expect(await erase()).toMatchObject({ exitCode: 0 })
  expect(await ask(warehouse, 'FROM main.own')).toEqual([{ a: 4, b: 8, source: { c: 1 } }])
})

it('finds a row whose person is spelled otherwise, as suppression does', async () => {
  const { sync, erase } = settle({ streams: ['people', 'clockings'] })
  const { emulator } = tenant
  const clocking = Number(emulator.all('clockings').find(isOwn)?.['id'])
  emulator.update('clockings', clocking, { person: { Id: id } })
  await sync()
  removeFromService()
  emulator.remove('clockings', clocking)
  expect(await erase()).toMatchObject({ receipt: { result: 'erased' } })
  expect(await ask(warehouse, `SELECT person FROM clockings WHERE id = ${clocking}`)).toEqual([])
})

it.each([
  [
    'does not say that it knows names of which the file has hashes',
    {
      personal_data: 'pseudonymised',
      privacy_key: KEY,
      field_rules: [{ stream: 'assignments', path: 'comments', rule: 'keep' }],
    },
    { areNamesKnown: false, toJudge: [] },
  ],
  [
    'searches texts of others for names of two letters',
    {},
    { areNamesKnown: true, toJudge: [expect.objectContaining({ stream: 'assignments' })] },
  ],
])('%s', async (_, config, receipt) => {
  const { sync, erase } = settle({ streams: ['people', 'assignments'], ...config })
  const { emulator } = tenant
  emulator.update('people', id, { firstName: 'Bo', lastName: 'Li' })
  const others = emulator.all('assignments').find((row) => !isOwn(row))
  emulator.update('assignments', Number(others?.['id']), { comments: 'replaces Bo Li.' })
  await sync()
  removeFromService()
  expect(await erase()).toMatchObject({ receipt: { ...receipt, result: 'to be judged', found: 0 } })
})
