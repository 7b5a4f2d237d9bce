import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { configOf } from '../hostile/scenario.ts'
import { temporaryFolder } from '../testing/files.ts'
import { expected, startMarkedService } from '../testing/marked-service.ts'
import { deltasOf, protime, verify, withDuckDb } from '../testing/protime.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const path = (name: string) => join(folder.path, name)
const words = () => ['--config', path('config.json'), '--warehouse', path('w.duckdb')]

function configure(settings: object): void {
  writeFileSync(path('config.json'), JSON.stringify(settings), { mode: 0o600 })
}

async function change(sql: string): Promise<void> {
  await withDuckDb(path('w.duckdb'), (connection) => connection.run(sql))
}

/** A small tenant, synced with these settings and options. */
async function synced(settings: object, ...more: readonly string[]): Promise<Emulator> {
  const emulator = await startEmulator({ people: 3, months: 1 })
  onTestFinished(() => emulator.close())
  configure({ ...emulator.config(), ...settings })
  expect((await protime('sync', ...words(), ...more)).exitCode).toBe(0)
  return emulator
}

/** Streams with records of people; verify.test.ts compares all streams. */
const FEW = ['people', 'departments', 'jobs', 'absences']

describe('protime verify treats records as the configuration says', () => {
  it.each([
    ['pseudonymised', 'keep', [...FEW, 'external_references', 'activity_definitions']],
    ['minimal', 'drop', FEW],
  ])(
    'with personal_data %s and unknown_fields %s',
    async (personal_data, unknown_fields, streams) => {
      const { origin } = await startMarkedService({})
      configure({
        ...configOf(origin),
        start_date: '2020-01-01',
        activity_structures: [{ structure_version_id: 'a', level: 1 }],
        ...{ personal_data, unknown_fields, privacy_key: 'Wq3-xkT9_mB7vZ2p', streams },
      })
      expect((await protime('sync', ...words())).exitCode).toBe(0)
      expect(await verify(...words())).toMatchObject({ exitCode: 0, differences: [] })
      await change("UPDATE people SET changeVersion = '0'; DELETE FROM departments")
      const run = await verify(...words(), '--streams', 'departments,people')
      expect(run.differences).toMatchObject([
        { stream: 'departments', difference: 'missing' },
        { stream: 'people', difference: 'old', fields: [] },
      ])
      const said = `${run.stdout}${run.stderr}`
      expect(expected.filter(({ text }) => said.includes(text))).toEqual([])
    },
  )

  it('with external references in records, and finds those that no delta reports', async () => {
    const emulator = await synced({
      streams: ['absences'],
      external_references: [{ collection: 'people', names: ['payroll'] }],
    })
    expect(await verify(...words())).toMatchObject({ exitCode: 0 })
    const [absence] = emulator.all('absences')
    const id = idOf(absence?.['person'])
    emulator.setReference('people', 'payroll', 'another-number', Number(id))
    await protime('sync', ...words())
    const run = await verify(...words())
    const old = emulator.all('absences').filter(({ person }) => idOf(person) === id)
    expect(run.differences).toEqual(
      old.map(({ id: key, changeVersion: version }) => ({
        ...{ stream: 'absences', key, difference: 'changed', fields: ['person'], version },
      })),
    )
    expect(run.stdout + run.stderr).not.toContain('another-number')
  })
})

function idOf(value: unknown): unknown {
  return (value as { readonly id: unknown }).id
}

describe('protime verify compares what the file covers', () => {
  it('but not what rows were before', async () => {
    const emulator = await synced({ streams: ['people', 'jobs'], history: true })
    emulator.remove('jobs', Number(emulator.all('jobs')[0]?.['id']))
    await protime('sync', ...words())
    expect(await verify(...words())).toMatchObject({ exitCode: 0, differences: [] })
    await change('INSERT INTO main.jobs SELECT * EXCLUDE (_known_until) FROM _protime.closed_jobs')
    expect(await verify(...words())).toMatchObject({ differences: [{ difference: 'too many' }] })
    const mended = await verify(...words(), '--sync')
    expect(mended).toMatchObject({ exitCode: 3, differences: [{ difference: 'too many' }] })
  })

  it('and values that do not fit into their column, with every digit', async () => {
    const emulator = await synced({ streams: ['clockings'] })
    const [first, second] = emulator.all('clockings')
    const odd = {
      timeOfDayInMinutes: '8:15',
      unknown: { deep: [1.5, null] },
      date: first?.['date'],
    }
    emulator.update('clockings', Number(first?.['id']), odd)
    emulator.update('clockings', Number(second?.['id']), { kind: 5, more: 'a\u0000b' })
    await protime('sync', ...words())
    expect(await verify(...words())).toMatchObject({ exitCode: 0, differences: [] })
    await change(`UPDATE clockings SET timeOfDayInMinutes_json = '"8:16"'
      WHERE timeOfDayInMinutes_json IS NOT NULL`)
    expect(await verify(...words())).toMatchObject({
      differences: [{ key: first?.['id'], difference: 'changed', fields: ['timeOfDayInMinutes'] }],
    })
    // Beside the value that fits.
    await change(`UPDATE clockings SET timeOfDayInMinutes_json = '"8:15"'`)
    const { differences } = await verify(...words())
    expect(differences.length).toBe(emulator.all('clockings').length - 1)
  })

  it('from its first day on, whatever the start date is now', async () => {
    const emulator = await synced({ streams: ['clockings'], start_date: '2026-09-01' })
    configure({ ...emulator.config(), streams: ['clockings'], start_date: '2026-11-10' })
    expect(await verify(...words())).toMatchObject({ exitCode: 0, differences: [] })
    await change('DELETE FROM clockings WHERE id = (SELECT arg_min(id, date) FROM clockings)')
    expect((await verify(...words())).differences).toMatchObject([{ difference: 'missing' }])
  })

  it('and leaves out days that are no longer listed, and says how many rows these are', async () => {
    const emulator = await synced({ streams: ['assignments'], future_days: 30 })
    emulator.insert('assignments', { from: '2028-01-01', until: null })
    await protime('sync', ...words())
    const run = await verify(...words())
    expect(run).toMatchObject({ exitCode: 0, differences: [] })
    expect(run.stderr).toMatch(/assignments: [1-9]\d* rows were not compared/)
  })

  it('and leaves out references of a collection that the service does not list at the moment', async () => {
    const emulator = await synced({ streams: ['external_references'] })
    emulator.setReference('jobs', 'erp', 'B-1', 1)
    emulator.setReference('people', 'erp', 'P-1', 1)
    await protime('sync', ...words())
    await change(
      "INSERT INTO external_references BY NAME SELECT * REPLACE ('lost' AS value) FROM external_references WHERE collection = 'people' LIMIT 1",
    )
    emulator.fail('/external-references/jobs', 400)
    const run = await verify(...words())
    expect(run.differences).toEqual([
      {
        stream: 'external_references',
        key: ['people', expect.any(String), '****'],
        difference: 'too many',
        pending: true,
      },
    ])
    expect(run.stderr).toMatch(/external_references: \d+ rows were not compared/)
  })
})

describe('protime verify --sync', () => {
  it.each(['short', 'empty'] as const)(
    'looks again before it calls a row too many, should a list be %s once',
    async (fault) => {
      const emulator = await synced({ streams: ['jobs', 'people'] })
      emulator.fault('/jobs', fault, { times: 1 })
      expect(await verify(...words(), '--sync')).toMatchObject({ exitCode: 0, differences: [] })
    },
  )

  it('finds a change that the delta has not reported', async () => {
    const emulator = await synced({ streams: ['jobs', 'people'] })
    copyFileSync(path('w.duckdb'), path('before.duckdb'))
    const [job] = emulator.all('jobs')
    emulator.update('jobs', Number(job?.['id']), { name: { default: 'Another' } })
    await protime('sync', ...words())
    // The row is as it was before the delta told of the change, and its state as if it had.
    await change(`ATTACH '${path('before.duckdb')}' AS earlier (READ_ONLY);
      DELETE FROM jobs WHERE id = ${job?.['id']};
      INSERT INTO jobs SELECT * FROM earlier.jobs WHERE id = ${job?.['id']}`)
    const before = deltasOf(emulator).length
    const run = await verify(...words(), '--sync')
    expect(run.differences).toMatchObject([
      { stream: 'jobs', key: job?.['id'], difference: 'old', fields: ['name'] },
    ])
    // Of each sync one delta link of each stream.
    expect(deltasOf(emulator).length - before).toBe(3 * 2)
  })
})
