import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { beforeEach, describe, expect, it } from 'vitest'
import { personStreams } from '../../src/streams/person-paths.ts'
import type { Row, Tenant } from '../engines/tenant.ts'
import { temporariesBeside } from '../testing/files.ts'
import { ask, protime, startProtime, verify } from '../testing/protime.ts'
import { startTenantInFolder } from '../testing/tenant-in-folder.ts'

const NAME = 'Name-Of-One-Person'
const REFERENCE = 'mark-1042-of-hr'
/** Of a contract of the person. */
const PAYROLL = 'mark-of-payroll'
const KEY = 'Wq3-xkT9_mB7vZ2p'

/** By night kills are more, and of a file with all streams of people. */
const IS_NIGHT = process.env['HISTORIES_SCALE'] !== undefined
const KILLS = IS_NIGHT ? 40 : 4
const FEW = [
  ...['people', 'contracts', 'clockings', 'breaks', 'assignments'],
  ...['external_references', 'inventory'],
]
/** The time in which a file is erased, and that in which the new one takes its place. */
const [FIRST_MS, LAST_MS] = IS_NIGHT ? [800, 300] : [400, 150]

let folder: string
let tenant: Tenant
/** A person with a name that nobody else has. */
let id: number
/** An assignment of somebody else, which names the person. */
let others: Row
beforeEach(async () => {
  ;({ folder, tenant } = await startTenantInFolder())
  const { emulator } = tenant
  id = Number(emulator.all('people')[3]?.['id'])
  emulator.update('people', id, { lastName: NAME, firstName: 'May' })
  others = emulator.all('assignments').find((row) => idOf(row) !== id) ?? {}
  emulator.update('assignments', Number(others['id']), { comments: `replaces ${NAME}.` })
  emulator.setReference('people', 'hr-of-acme', REFERENCE, id)
  const contract = emulator.all('contracts').find((row) => idOf(row) === id)
  emulator.setReference('contracts', 'payroll', PAYROLL, Number(contract?.['id']))
})

const idOf = (row: Row) => (row['person'] as Row | undefined)?.['id']

/** The words of a command for the tenant's warehouse. */
function settle(more: object = {}) {
  const [file, warehouse] = [join(folder, 'config.json'), join(folder, 'acme.duckdb')]
  const config = { ...tenant.config, streams: [...personStreams().keys(), 'inventory'], ...more }
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  const words = ['--config', file, '--warehouse', warehouse]
  return {
    warehouse,
    words,
    sync: (...own: string[]) => protime('sync', ...words, '--quiet', ...own),
  }
}

const linesOf = (text: string) =>
  text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Row]))

/** The records of the service that are about the person. */
async function truth(stream: string): Promise<readonly Row[]> {
  const rows = await tenant.truth(stream)
  if (stream === 'people') return rows.filter((row) => row['id'] === id)
  if (stream !== 'external_references') return rows.filter((row) => idOf(row) === id)
  return rows.filter(
    (row) =>
      row['value'] === PAYROLL ||
      (row['collection'] === 'people' && row['internalReference'] === String(id)),
  )
}

/** Removes the person from the service, with everything that it lists but the reference with this value. */
async function removeFromService(kept?: string): Promise<void> {
  const { emulator } = tenant
  const references = (await truth('external_references')) as Record<string, string>[]
  for (const { collection = '', name = '', value = '' } of references)
    if (value !== kept) emulator.removeReference(collection, name, value)
  for (const stream of [...personStreams().keys()].reverse())
    for (const row of stream === 'external_references' ? [] : await truth(stream))
      emulator.remove(stream.replaceAll('_', '-'), Number(row['id']))
}

it.each(['export', 'erase'])(
  'protime person %s refuses a warehouse in PostgreSQL, and says what there is instead',
  async (what) => {
    const [option = '', file = ''] = settle().words
    const warehouse = 'postgres://loader@127.0.0.1:1/hr'
    const words = [option, file, '--warehouse', warehouse]
    expect(await protime('person', what, '1', ...words)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('protime person sql ID --dialect postgres'),
    })
  },
)

it('protime person erase refuses a folder of Parquet files, and says when that is rewritten', async () => {
  const { words, sync } = settle({ streams: ['people'] })
  await sync()
  const copies = ['--publish', `${folder}/parquet/`]
  expect(await protime('person', 'erase', String(id), ...words, ...copies)).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('rewritten by the next protime sync'),
  })
})

describe('protime person export', () => {
  it('prints what the service has about the person, and texts of others to judge', async () => {
    const { words, sync } = settle()
    expect(await sync()).toMatchObject({ exitCode: 0 })
    const { exitCode, stdout, stderr } = await protime('person', 'export', String(id), ...words)
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 })
    const lines = linesOf(stdout)
    for (const stream of personStreams().keys()) {
      const own = lines.filter(
        (line) => line['stream'] === stream && !String(line['why']).includes('judged'),
      )
      const expected = await truth(stream)
      expect(expected.length, stream).toBeGreaterThan(0)
      expect(
        own.map((line) => isSame(line['row'] as Row, expected)),
        stream,
      ).toEqual(expected.map(() => true))
    }
    const judged = lines.filter((line) => String(line['why']).includes('judged'))
    expect(judged).toEqual([
      expect.objectContaining({ stream: 'assignments', why: 'to be judged: comments' }),
    ])
    expect(stderr).not.toContain(NAME)
  })

  it('finds the person by a reference, and writes a file for its owner alone', async () => {
    const { words, sync } = settle({ streams: ['people', 'external_references'] })
    await sync()
    const output = join(folder, 'person.jsonl')
    const { employeeNumber } = tenant.emulator.all('people').find((row) => row['id'] === id) as Row
    for (const reference of [
      `people:hr-of-acme=${REFERENCE}`,
      `people:@employee-number=${employeeNumber}`,
    ]) {
      const named = ['--reference', reference, '--output', output]
      const run = await protime('person', 'export', ...named, ...words)
      expect(run).toMatchObject({ exitCode: 0, stdout: '' })
      expect(statSync(output).mode & 0o777).toBe(0o600)
      expect(linesOf(readFileSync(output, 'utf8'))[0]).toMatchObject({ stream: expect.any(String) })
      rmSync(output)
    }
    expect(
      await protime('person', 'export', '--reference', 'people:hr=none', ...words),
    ).toMatchObject({ exitCode: 4 })
    expect(await protime('person', 'export', '999999', ...words)).toMatchObject({
      exitCode: 4,
      stdout: '',
    })
  })
})

/** Whether the columns of a row have the values of one of these records. */
function isSame(row: Row, records: readonly Row[]): boolean {
  const plain = Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) => (value === null ? [] : [[name, value]])),
  )
  return records.some((record) => {
    const known = Object.entries(record).filter(([, value]) => value !== null)
    return known.every(([name, value]) => isDeepStrictEqual(normal(plain[name]), normal(value)))
  })
}

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/
const normal = (value: unknown) =>
  typeof value === 'string' && TIME.test(value)
    ? value.replace('T', ' ').replace(/(\.0+)?Z?$/, '')
    : value

describe('protime person erase', () => {
  it('refuses while the service lists the person or a reference, and changes nothing', async () => {
    const streams = ['people', 'external_references', 'contracts']
    const { warehouse, words, sync } = settle({ privacy_key: KEY, streams })
    await sync()
    const before = readFileSync(warehouse)
    const run = await protime('person', 'erase', String(id), ...words)
    expect(run).toMatchObject({ exitCode: 2, stdout: '' })
    expect(run.stderr).toContain('still lists the person in people, external_references,')
    expect(run.stderr).toMatch(/add [0-9a-f]{72} to suppressed_people/)
    expect(readFileSync(warehouse).equals(before)).toBe(true)
  })

  it('refuses while the service lists other rows of the person, and changes nothing', async () => {
    const { warehouse, words, sync } = settle({ streams: ['people', 'contracts', 'clockings'] })
    const { emulator } = tenant
    await sync()
    emulator.remove('people', id)
    await sync()
    const before = readFileSync(warehouse)
    const { exitCode, stderr } = await protime('person', 'erase', String(id), ...words)
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringMatching(/the person in (contracts, clockings|clockings, contracts),/),
    ])
    expect(readFileSync(warehouse).equals(before)).toBe(true)
  })

  it('refuses while the service lists a reference of a contract that the person had', async () => {
    const { words, sync } = settle({ streams: ['people', 'contracts', 'external_references'] })
    await sync()
    await removeFromService(PAYROLL)
    expect(await protime('person', 'erase', String(id), ...words)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('still lists the person in external_references,'),
    })
  })

  it('refuses while the rows of the person are withheld from deletion, and changes nothing', async () => {
    const { words, sync, warehouse } = settle({ streams: ['people'], max_missing: '0' })
    await sync()
    tenant.emulator.hide((person) => person === id)
    tenant.emulator.advance({ hours: 73 })
    expect((await sync()).exitCode).toBe(2)
    const before = readFileSync(warehouse)
    const { exitCode, stderr } = await protime('person', 'erase', String(id), ...words)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('[deletes-withheld]')])
    // The hint after the message says what to do with the approval, so the message has to say where it is.
    expect(stderr).toContain('names the approval for deleting them.')
    expect(readFileSync(warehouse).equals(before)).toBe(true)
  })

  it('leaves no byte of the person, and nothing comes back', { timeout: 120_000 }, async () => {
    const { warehouse, words, sync } = settle({ privacy_key: KEY, history: true })
    const copy = join(folder, 'readers.duckdb')
    expect(await sync('--publish', copy)).toMatchObject({ exitCode: 0 })
    await removeFromService()
    expect(await sync('--publish', copy)).toMatchObject({ exitCode: 0 })
    // As an interrupted --rewrite leaves it.
    copyFileSync(copy, `${warehouse}.rewrite`)
    mkdirSync(`${warehouse}.rewrite.protime-0123456789ab`)
    writeFileSync(`${warehouse}.rewrite.protime-0123456789ab/1.rows`, NAME)
    expect(marksIn(folder)).not.toEqual([])
    const ofOthers = `SELECT count(*)::INT AS rows FROM clockings WHERE person->>'$.id' <> '${id}'`
    const rest = await ask(warehouse, ofOthers)
    tenant.emulator.update('assignments', Number(others['id']), { comments: 'replaces somebody' })
    await sync()
    await protime('history', 'forget', '--person', String(idOf(others)), ...words)
    const run = await protime('person', 'erase', String(id), '--publish', copy, ...words)
    expect(run).toMatchObject({ exitCode: 0 })
    const [receipt = {}] = linesOf(run.stdout)
    expect(receipt).toMatchObject({
      result: 'erased',
      copies: 1,
      found: 0,
      toJudge: [],
      others: [],
      person: expect.stringMatching(/^[0-9a-f]{72}$/),
    })
    expect(Object.keys(receipt['rows'] as Row)).toEqual([...personStreams().keys()])
    expect(run.stdout + run.stderr).not.toContain(NAME)
    expect(marksIn(folder)).toEqual([])
    expect(readdirSync(folder).sort()).toEqual(['acme.duckdb', 'config.json', 'readers.duckdb'])
    expect(await ask(warehouse, ofOthers)).toEqual(rest)
    expect(await verify(...words)).toMatchObject({ exitCode: 0, differences: [] })
    for (let i = 0; i < 3; i++) {
      const again = await protime('sync', ...words)
      expect(again).toMatchObject({ exitCode: 0 })
      // A view that DuckDB writes otherwise after it was opened again is made anew.
      expect(again.stderr).not.toMatch(/(WARN|ERROR) (?!.*the view flat\.)/)
      expect(marksIn(folder)).toEqual([])
      expect(await miscounted(warehouse)).toEqual([])
      expect(await protime('person', 'export', String(id), ...words)).toMatchObject({ exitCode: 4 })
      expect(await verify(...words)).toMatchObject({ exitCode: 0, differences: [] })
    }
  })
})

it('protime person erase lists what the rows of others were before, and leaves it: a name may be a word', async () => {
  const { warehouse, words, sync } = settle({ streams: ['people', 'assignments'], history: true })
  const key = Number(others['id'])
  tenant.emulator.update('assignments', key, { comments: 'may be late' })
  await sync()
  tenant.emulator.update('assignments', key, { comments: 'is on time' })
  await removeFromService()
  await sync()
  const { stdout } = await protime('person', 'erase', String(id), ...words)
  expect(linesOf(stdout)[0]).toMatchObject({
    result: 'to be judged',
    toJudge: [{ stream: 'assignments', key, why: 'to be judged: comments of an earlier version' }],
  })
  const versions = `SELECT comments FROM history.assignments WHERE id = ${key} ORDER BY known_from`
  expect(await ask(warehouse, versions)).toEqual([
    { comments: 'may be late' },
    { comments: 'is on time' },
  ])
})

it('protime person erase after a sync has deleted the rows clears the state, and searches texts of others for given names', async () => {
  const { warehouse, words, sync } = settle({ streams: ['people', 'assignments'] })
  await sync()
  await removeFromService()
  await sync()
  const erase = ['person', 'erase', String(id), ...words]
  const blind = await protime(...erase)
  expect(blind).toMatchObject({
    exitCode: 4,
    stderr: expect.stringContaining('Texts of others were not searched'),
  })
  expect(linesOf(blind.stdout)[0]).toMatchObject({ areNamesKnown: false, toJudge: [] })
  const latest =
    "SELECT state->>'$.latest_changes' AS ids FROM _protime.states WHERE stream = 'people'"
  expect(String((await ask(warehouse, latest))[0]?.['ids'])).not.toContain(`[${id},`)
  const { stdout } = await protime(...erase, '--name', NAME)
  expect(linesOf(stdout)[0]).toMatchObject({
    areNamesKnown: true,
    toJudge: [{ stream: 'assignments', key: others['id'] }],
  })
})

/** The streams with people of which the inventory does not say the number of rows. */
async function miscounted(warehouse: string): Promise<string[]> {
  const rows = [...personStreams().keys()].map((stream) => {
    const told = `SELECT records FROM inventory WHERE stream = '${stream}' AND part = 'all' AND "isComplete"`
    return `SELECT '${stream}' AS stream, (${told}) = (SELECT count(*) FROM ${stream}) AS agrees`
  })
  const found = await ask(warehouse, rows.join(' UNION ALL '))
  expect(found).toHaveLength(rows.length)
  return found.flatMap(({ stream, agrees }) => (agrees === true ? [] : [String(stream)]))
}

it('protime person erase that is killed leaves the old file or the new one', {
  timeout: KILLS * 60_000,
}, async () => {
  const { warehouse, words, sync } = settle(IS_NIGHT ? {} : { streams: FEW })
  await sync()
  await removeFromService()
  const waiting = "_protime.next_breaks WHERE person->>'$.id'"
  await ask(warehouse, 'CREATE TABLE _protime.next_breaks AS FROM breaks')
  const keep = readFileSync(warehouse)
  const content =
    "SELECT count(*)::INT AS rows, sum(hash(source))::VARCHAR AS sum FROM clockings AS source WHERE person->>'$.id' <> "
  const others = await ask(warehouse, `${content}'${id}'`)
  const outcomes = new Set<string>()
  for (let kill = 0; kill < KILLS; kill++) {
    writeFileSync(warehouse, keep)
    const { child, ended } = startProtime(['person', 'erase', String(id), ...words])
    // The half of them while the new file is made.
    const isThere = () =>
      kill % 2 === 0 ? temporariesBeside(warehouse).length > 0 : isBegun(warehouse)
    while (child.exitCode === null && !isThere()) await sleep(1)
    await sleep((kill % 2 === 0 ? FIRST_MS : LAST_MS) * (kill / KILLS))
    child.kill('SIGKILL')
    await ended
    const [{ rows = 0 } = {}] = await ask(
      warehouse,
      `SELECT count(*)::INT AS rows FROM clockings WHERE person->>'$.id' = '${id}'`,
    )
    const isNew = Number(rows) === 0
    outcomes.add(isNew ? 'new' : 'old')
    if (isNew) expect(readFileSync(warehouse).includes(REFERENCE)).toBe(false)
    expect(await ask(warehouse, `${content}'${id}'`)).toEqual(others)
  }
  expect([...outcomes]).toContain('old')
  expect((await protime('person', 'erase', String(id), ...words)).stdout).toContain('"receipt"')
  expect(readdirSync(folder).sort()).toEqual(['acme.duckdb', 'config.json'])
  // In the comment of somebody else, which is to be judged.
  expect(marksIn(folder)).toEqual(['acme.duckdb'])
  expect(readFileSync(warehouse).includes(REFERENCE)).toBe(false)
  expect(await ask(warehouse, `SELECT count(*)::INT AS rows FROM ${waiting} = '${id}'`)).toEqual([
    { rows: 0 },
  ])
  expect(await verify(...words)).toMatchObject({ exitCode: 0, differences: [] })
})

/** Whether the new file of a warehouse is being made. */
function isBegun(warehouse: string): boolean {
  return temporariesBeside(warehouse).some((folder) => existsSync(join(folder, 'fresh.duckdb')))
}

/** The files below a folder that have a mark of the person. */
function marksIn(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const file = join(path, name)
    if (!existsSync(file) || !statSync(file).isFile()) return false
    const bytes = readFileSync(file)
    return [NAME, REFERENCE, PAYROLL].some((mark) => bytes.includes(mark))
  })
}
