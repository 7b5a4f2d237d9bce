import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../../emulator/emulator.ts'
import { referencedCollections } from '../../src/streams/collections.ts'
import { streams } from '../../src/streams/streams.ts'
import { type AirbyteRun, run } from '../testing/run.ts'
import { createWarehouse, differences } from '../testing/warehouse.ts'

/** The streams whose list or delta is an endpoint of the specification, read to the letter. */
const NAMES = [
  'access_clockings',
  'departments',
  'employers',
  'external_references',
  'jobs',
  'shift_definitions',
  'work_locations',
]

const READ = { program: 'source-protime', command: 'read', in: 'process' } as const

let emulator: Emulator
const warehouse = createWarehouse('highest-cursor')
/** What was read and asked at the first sync, after changes, 73 hours later, and without warning. */
const syncs: { result: AirbyteRun; asked: string[]; wrong: string[] }[] = []

beforeAll(async () => {
  emulator = await startEmulator({
    dialect: 'specification',
    people: 5,
    months: 2,
    pageSize: 5,
    clients: [{ id: 'a', secret: 'b', scopes: 'all' }],
  })
  const config = {
    ...emulator.config(),
    // These changes delete more than a fifth of some streams.
    max_missing: '100%',
    external_references: [
      { collection: 'people', names: ['@badge-number'] },
      { collection: 'employers', names: ['erp'] },
    ],
  }
  const sync = async () => {
    const state = syncs.at(-1)?.result.state
    const from = emulator.requests.length
    const result = await run({ ...READ, config, catalog: NAMES, state })
    warehouse.load(result.messages)
    const asked = emulator.requests.slice(from).map(({ path, query }) => `${path}?${query}`)
    syncs.push({ result, asked, wrong: NAMES.flatMap(faultsOf) })
  }
  await sync()
  emulator.randomChanges({ inserts: 100, updates: 100, deletes: 100 })
  await sync()
  emulator.randomChanges({ inserts: 100, updates: 100, deletes: 100, seed: 2 })
  emulator.advance({ hours: 73 })
  await sync()
  emulator.randomChanges({ inserts: 100, updates: 100, deletes: 100, seed: 3 })
  emulator.expireDelta()
  await sync()
})
afterAll(() => emulator.close())

function faultsOf(stream: string): string[] {
  return differences(stream, warehouse.rows(stream), truthOf(stream))
}

function truthOf(stream: string): Record<string, unknown>[] {
  if (stream === 'external_references') {
    return referencedCollections.flatMap((collection) =>
      emulator.references(collection).map((one) => ({
        collection,
        name: one.referenceName,
        value: one.externalReference,
        internalReference: one.internalReference,
      })),
    )
  }
  const { collection = '' } = streams.get(stream) ?? {}
  return emulator.all(collection, [{ collection: 'people', name: '@badge-number' }])
}

/** The starts and links of a delta that a sync asked, without further pages and the text of tokens. */
function requestsAbout(collection: string, index: number): string[] {
  const asked = syncs[index]?.asked ?? []
  return asked
    .filter((url) => [`/${collection}`, `/delta/${collection}`].includes(url.split('?')[0] ?? ''))
    .map((url) => url.replace(/Token=.*/, 'Token'))
    .filter((url) => !url.includes('continuation'))
}

describe('a service that offers only what the specification shows', () => {
  // spec: Service 3
  // spec: External references 3
  // spec: Addressing 1
  it.each([
    ['at first', 0],
    ['after changes', 1],
    ['when all links are older than 72 hours', 2],
    ['when the service has forgotten its deltas', 3],
  ])('is in the warehouse %s', (_, index) => {
    expect([syncs[index]?.wrong, syncs[index]?.result.errors]).toEqual([[], []])
  })

  // spec: Endpoints: GET /external-references/{collectionName}
  // spec: Endpoints: GET /work-locations
  // spec: Endpoints: GET /departments?delta
  // spec: Endpoints: GET /employers?delta
  // spec: Endpoints: GET /jobs?delta
  // spec: Endpoints: GET /shift-definitions?delta
  it.each([
    '/external-references/people',
    '/work-locations',
    '/access-clockings?delta',
    '/departments?delta',
    '/employers?delta',
    '/jobs?delta',
    '/shift-definitions?delta',
  ])('is read by GET %s', (endpoint) => {
    const [path, flag] = endpoint.split('?')
    const asked = syncs[0]?.asked.filter((url) => url.startsWith(`${path}?`)) ?? []
    expect(asked.some((url) => flag === undefined || /[?&]delta$/.test(url))).toBe(true)
  })

  // spec: Endpoints: GET /employers
  // spec: Endpoints: GET /shift-definitions
  // spec: Employers and shift definitions: GET
  it.each(['employers', 'shift_definitions', 'work_locations'])(
    'is read by its list in a full refresh, without a delta (%s)',
    async (name) => {
      const from = emulator.requests.length
      const catalog = [{ name, sync_mode: 'full_refresh' }]
      const { records } = await run({ ...READ, config: emulator.config(), catalog })
      const asked = emulator.requests.slice(from).filter(({ path }) => path !== '/connect/token')
      expect([
        records(name).length,
        asked.map(({ path }) => path),
        asked.filter(({ query }) => query.includes('delta')),
      ]).toEqual([
        emulator.all(name.replace('_', '-')).length,
        asked.map(() => `/${name.replace('_', '-')}`),
        [],
      ])
    },
  )

  // spec: Endpoints: GET /access-clockings?delta
  it('gets requests for access clockings from a day on, without an end and without people', () => {
    const starts = syncs[0]?.asked.filter((url) => /^\/access-clockings\?.*&delta$/.test(url)) ?? []
    expect(starts.map(decodeURIComponent)).toEqual([
      "/access-clockings?filter=date ge '2026-09-20'&externalReferences=(people,@badge-number)&delta",
    ])
  })

  // spec: Addressing 4
  it('gets requests for references only if it offers them', () => {
    const asked = syncs.flatMap((sync) => sync.asked).filter((url) => url.includes('externalRef'))
    // The list, and single records below it.
    const collections = asked.map((url) => url.split(/[/?]/)[1])
    expect(new Set(collections)).toEqual(new Set(['access-clockings']))
  })

  // spec: Departments, employers, jobs: delta
  // spec: Delta mode 1
  it('gets requests for changes only by its own links, while they are valid', () => {
    const asked = syncs[1]?.asked.filter((url) => url.startsWith('/departments?'))
    const links = syncs[1]?.asked.filter((url) => url.startsWith('/delta/departments?')) ?? []
    expect([asked, links.map((url) => /^[^=]+\?deltaToken=[^&]+$/.test(url))]).toEqual([[], [true]])
  })

  // spec: Delta mode 2
  // spec: Limits: delta token age
  it('is read from the beginning, without a request, if its links are older than 72 hours', () => {
    expect(requestsAbout('jobs', 2)).toEqual(['/jobs?delta', '/delta/jobs?deltaToken'])
  })

  // spec: Errors: 410
  it('is read from the beginning if it answers 410 to its links', () => {
    expect(requestsAbout('jobs', 3)).toEqual([
      '/delta/jobs?deltaToken',
      '/jobs?delta',
      '/delta/jobs?deltaToken',
    ])
  })

  // spec: Service 7
  it('gets a user agent with every request', () => {
    expect(emulator.requests.filter(({ userAgent }) => !userAgent?.startsWith('source-'))).toEqual(
      [],
    )
  })
})

describe('a refusal of the service', () => {
  let emulator: Emulator
  beforeEach(async () => {
    emulator = await startEmulator({ dialect: 'specification', people: 2 })
  })
  afterEach(() => emulator.close())

  const read = (catalog: readonly string[], settings: object = {}) =>
    run({
      ...READ,
      config: { ...emulator.config(), ...settings },
      catalog,
    })

  // spec: Errors: 400 external reference management
  it.each([400, 404])(
    'for the references of one collection (%d) does not affect the others',
    async (status) => {
      emulator.fail('/external-references/circles', status)
      const { errors, records } = await read(['external_references'])
      const collections = new Set(records('external_references').map((row) => row['collection']))
      expect([errors, collections.has('people')]).toEqual([[], true])
    },
  )

  // spec: Limits: access-clocking delta start date
  it('for the days before a delta is reported, and the later days are read', async () => {
    const result = await read(['access_clockings'], { start_date: '2020-01-01' })
    expect([result.errors, result.records('access_clockings').length, result.logs]).toEqual([
      [],
      emulator.all('access-clockings').length,
      expect.arrayContaining([
        expect.stringMatching(/^WARN access_clockings: .*days before 2025-01-01 cannot be read/),
      ]),
    ])
  })
})
