import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import type { SingerState } from '../../src/protocol/acceptance/messages.ts'
import { startTenant, type Tenant } from '../engines/tenant.ts'
import { type SingerOptions, type SingerRun, tap } from '../testing/run.ts'
import { selecting } from '../testing/singer-messages.ts'
import { createSingerWarehouse, differences } from '../testing/warehouse.ts'

type Value = Readonly<Record<string, unknown>>

/**
 * How Meltano puts a partial state onto the one before it: objects are merged member by member,
 * everything else is replaced whole, and an object cannot be put onto null.
 */
function meltanoMerge(partial: Value, state: Value): Value {
  const merged: Record<string, unknown> = { ...state }
  for (const [name, value] of Object.entries(partial)) {
    if (!isObject(value)) merged[name] = value
    else if (!(name in merged)) merged[name] = value
    else merged[name] = meltanoMerge(value, onto(merged[name], name))
  }
  return merged
}

function onto(value: unknown, name: string): Value {
  if (isObject(value)) return value
  throw new TypeError(`${name}: an object cannot be merged into ${JSON.stringify(value)}`)
}

function isObject(value: unknown): value is Value {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const CHANGES = { inserts: 30, updates: 30, deletes: 30, softDeletes: 3 }

/** What is in two targets and differs from the service, of all streams. */
async function faultsOf(
  warehouses: readonly ReturnType<typeof createSingerWarehouse>[],
  { streams, truth }: Tenant,
): Promise<string[]> {
  const faults: string[] = []
  for (const stream of streams)
    for (const warehouse of warehouses)
      faults.push(...differences(stream, warehouse.rows(stream), await truth(stream)))
  return faults
}

describe('a whole tenant over Singer', () => {
  let tenant: Tenant
  /** From the beginning, after changes, and after every link has died; at last without a state. */
  let runs: SingerRun[]
  let faults: string[][]
  beforeAll(async () => {
    tenant = await startTenant()
    const { config, emulator } = tenant
    const targets = [createSingerWarehouse(true), createSingerWarehouse(false)]
    runs = []
    faults = []
    const sync = async (state?: SingerState) => {
      const run = await tap({ in: 'process', config, state })
      runs.push(run)
      for (const target of targets) target.load(run.messages)
      faults.push(await faultsOf(targets, tenant))
      return run.state
    }
    const first = await sync()
    emulator.randomChanges(CHANGES)
    const second = await sync(first)
    emulator.randomChanges({ ...CHANGES, seed: 2 })
    emulator.advance({ hours: 73 })
    await sync(second)
    await sync()
  })
  afterAll(() => tenant.emulator.close())

  it('is in both kinds of targets after the first sync, after changes, and after all links have died', () => {
    for (const { exitCode, stderr } of runs)
      expect([exitCode, stderr.includes('ERROR')]).toEqual([0, false])
    expect(faults.slice(0, 3)).toEqual([[], [], []])
  })

  it('loses its deleted rows by ACTIVATE_VERSION if it is read again without a state', async () => {
    const warehouse = createSingerWarehouse(true)
    const [first, , , again] = runs
    for (const run of [first, again]) warehouse.load(run?.messages ?? [])
    expect(await faultsOf([warehouse], tenant)).toEqual([])
  })

  it("has a state that survives Meltano's merge, with the same keys in each line", () => {
    const states = runs
      .slice(0, 3)
      .flatMap(({ messages }) => messages)
      .flatMap((message) => (message.type === 'STATE' ? [message.value] : []))
    const shapes = states.flatMap(({ bookmarks }) =>
      Object.values(bookmarks).map((bookmark) => Object.keys(bookmark).toSorted().join()),
    )
    expect(new Set(shapes).size).toBe(1)
    const merged = states.reduce((all, state) => meltanoMerge({ ...state }, all), {})
    expect(merged).toEqual(runs[2]?.state)
  })
})

describe('a catalog with a selection', () => {
  let emulator: Emulator
  beforeEach(async () => {
    emulator = await startEmulator({ people: 3, months: 1 })
  })
  afterEach(() => emulator.close())

  const sync = (options: Partial<SingerOptions>) =>
    tap({ in: 'process', config: emulator.config(), ...options })

  /** Numbers that a double cannot hold, and texts that look like JSON. */
  const PAGE = `{"value": [
    {"id": 12345678901234567890, "changeVersion": "1",
     "code": "}]\\"{", "name": {"default": "{\\"a\\":1}", "translations": {"nl": "Ja, \\u00e9"}},
     "undocumented": 0.12345678901234567890123}
  ]}`

  function lineOf(stdout: string): string | undefined {
    return stdout.split('\n').find((line) => line.startsWith('{"type":"RECORD"'))
  }

  describe('deselected fields', () => {
    it('are left out, including nested ones, and the others keep every digit', async () => {
      emulator.respond('/sectors', () => ({ status: 200, body: PAGE }))
      const catalog = selecting(['sectors'], [['properties', 'name', 'properties', 'default']])
      const { stdout } = await sync({ catalog })
      const line = lineOf(stdout)
      expect(line).toMatch(/"id": ?12345678901234567890,/)
      expect(line).toMatch(/"undocumented": ?0\.12345678901234567890123\b/)
      expect(JSON.parse(line ?? '').record.name).toEqual({ translations: { nl: 'Ja, é' } })
    })

    it('also remove undocumented fields beside them', async () => {
      emulator.respond('/sectors', () => ({ status: 200, body: PAGE }))
      const catalog = selecting(['sectors'], [['properties', 'name']])
      const run = await sync({ catalog })
      expect(Object.keys(run.records('sectors')[0] ?? {}).toSorted()).toEqual([
        '_ab_cdc_cursor',
        '_generation',
        '_sdc_deleted_at',
        'changeVersion',
        'id',
      ])
    })

    it('are not in the schema, either', async () => {
      const catalog = selecting(['people'], [['properties', 'bankAccount']])
      const { messages, records } = await sync({ catalog })
      const [schema] = messages.flatMap((one) => (one.type === 'SCHEMA' ? [one.schema] : []))
      expect(Object.keys(schema?.properties ?? {})).not.toContain('bankAccount')
      expect(records('people').every((row) => !('bankAccount' in row))).toBe(true)
    })

    it('never include the key, the version or the columns of the tap', async () => {
      const fields = ['id', 'changeVersion', '_generation', '_ab_cdc_cursor', '_sdc_deleted_at']
      const breadcrumbs = fields.map((name) => ['properties', name])
      const catalog = {
        streams: [
          {
            tap_stream_id: 'jobs',
            metadata: breadcrumbs.map((breadcrumb) => ({
              breadcrumb,
              metadata: { inclusion: 'automatic', selected: false },
            })),
          },
        ],
      }
      const run = await sync({ catalog })
      expect(Object.keys(run.records('jobs')[0] ?? {})).toEqual(expect.arrayContaining(fields))
    })
  })

  describe('a selection that changes between two syncs', () => {
    const LAST_NAME = ['properties', 'lastName']
    const TOWN = ['properties', 'town']

    it('starts the stream over for an added field, but not for a removed one', async () => {
      const first = await sync({ catalog: selecting(['people', 'jobs'], [LAST_NAME, TOWN]) })
      const added = await sync({
        catalog: selecting(['people', 'jobs'], [TOWN]),
        state: first.state,
      })
      expect(added.stderr).toContain(
        'people: its records now have fields that they did not have at the last sync, lastName; the stream is read from the beginning.',
      )
      expect(added.records('people').map(({ lastName }) => lastName)).toEqual(
        emulator.all('people').map(({ lastName }) => lastName),
      )
      const taken = selecting(['people', 'jobs'], [LAST_NAME, TOWN])
      const last = await sync({ catalog: taken, state: added.state })
      expect([last.records('people'), last.stderr.includes('from the beginning')]).toEqual([
        [],
        false,
      ])
    })

    it('starts it over if a newer version has a field that was left out before', async () => {
      const config = { ...emulator.config(), personal_data: 'minimal' }
      const { state } = await sync({ config, catalog: selecting(['jobs']) })
      const jobs = state?.bookmarks?.['jobs'] as { fields: string }
      // As a version would have stored it that did not know the last field.
      const older = { bookmarks: { jobs: { ...jobs, fields: jobs.fields.slice(0, -5) } } }
      const { stderr, records } = await sync({ config, catalog: selecting(['jobs']), state: older })
      expect(stderr).toMatch(/jobs: its records now have fields that they did not have/)
      expect(records('jobs')).toHaveLength(emulator.all('jobs').length)
    })
  })

  describe('deselected streams', () => {
    it('are neither read nor requested', async () => {
      const streams = [
        { tap_stream_id: 'people', metadata: [{ breadcrumb: [], metadata: { selected: false } }] },
        { tap_stream_id: 'jobs', metadata: [{ breadcrumb: [], metadata: { selected: 'true' } }] },
      ]
      const run = await sync({ catalog: { streams } })
      expect(Object.keys(run.state?.bookmarks ?? {})).toEqual(['jobs'])
      expect(emulator.requests.map(({ path }) => path)).not.toContain('/delta/people')
    })

    it('that do not exist are a failure of their own', async () => {
      const run = await sync({ catalog: selecting(['ghosts', 'jobs']) })
      expect([run.exitCode, run.records('jobs').length]).toEqual([1, emulator.all('jobs').length])
      expect(run.stderr).toContain('ghosts')
    })
  })

  describe('names that differ by case only', () => {
    it('are one column in the schema: the first one that is selected', async () => {
      const columns = async (deselected: string[][]) => {
        const catalog = selecting(['people'], deselected)
        const { messages } = await sync({ catalog })
        const [schema] = messages.flatMap((one) => (one.type === 'SCHEMA' ? [one.schema] : []))
        return Object.keys(schema?.properties ?? {}).filter((name) =>
          /^countryISOCode$/i.test(name),
        )
      }
      expect(await columns([])).toEqual(['countryISOCode'])
      expect(await columns([['properties', 'countryISOCode']])).toEqual(['countryIsoCode'])
    })
  })
})
