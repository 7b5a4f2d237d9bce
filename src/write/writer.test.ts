import { describe, expect, it, vi } from 'vitest'
import { ClientError } from '../client/client-error.ts'
import { parseWriteSettings } from '../config/write-settings.ts'
import { createFakeService, write } from './testing/fake-service.ts'
import { CONCURRENCY } from './write-batch.ts'
import { createWriter } from './writer.ts'

const OPTIONS = {
  secondValue: 'conflict',
  hasEtags: false,
  lists: 'answer',
  trims: false,
  cases: 'two',
  blanks: 'kept',
  readsDigits: false,
  unknownRecord: 404,
  checkedFirst: 'record',
} as const
const hr = (value: string, id: string) => ({
  data: { collection: 'people', name: 'hr', value, internalReference: id },
  isDelete: false,
})

const NORTH = {
  data: { externalReferences: { erp: 'N1' }, name: 'North' },
  isDelete: false,
}
/** The request for a work location takes effect seconds after its answer was lost. */
const NOT_CREATED_YET = ['none', 'none', 'none', 'later'] as const
const A_MINUTE = 60_000

describe('a list of references that cannot be read', () => {
  const open = () => createFakeService({ ...OPTIONS, lists: 'unreadable' })

  it('does not say that there are none: they are put, and requested one by one if that is refused', async () => {
    const service = open()
    service.linksOf('people', 'hr').set('A', '1').set('B', '2')
    const records = [hr('A', '1'), hr('B', '3'), { ...hr('C', '4'), isDelete: true }]
    const outcomes = await write({ service, object: 'external_references', records })
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['written', 'written', 'absent'])
    expect([...service.linksOf('people', 'hr')]).toEqual([
      ['A', '1'],
      ['B', '3'],
    ])
  })

  it.each([
    ['unreadable', ['rejected', 'absent'], ['OLD']],
    ['missing', ['written', 'absent'], ['NEW']],
  ] as const)('that is %s with relink off: %s', async (lists, expected, values) => {
    const service = createFakeService({ ...OPTIONS, lists, secondValue: 'replaces' })
    const people = service.linksOf('people', 'hr').set('OLD', '1')
    const records = [hr('NEW', '1'), { ...hr('C', '4'), isDelete: true }]
    const settings = { relink: false }
    const outcomes = await write({ service, object: 'external_references', records, settings })
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(expected)
    expect([...people.keys()]).toEqual(values)
  })

  it('is no reason to delete anything', async () => {
    const service = open()
    const settings = { mirror: true }
    const records = [hr('A', '1')]
    const mirrored = write({ service, object: 'external_references', records, settings })
    await expect(mirrored).rejects.toThrow(/cannot be read/)
  })
})

it('a record may have the columns of a database as its members', async () => {
  const service = createFakeService(OPTIONS)
  const data = { COLLECTION: 'people', NAME: 'hr', VALUE: 'A', INTERNAL_REFERENCE: 1 }
  await write({ service, object: 'external_references', records: [{ data, isDelete: false }] })
  expect([...service.linksOf('people', 'hr')]).toEqual([['A', '1']])
})

it('a record with a member and another column for it, which differ, is rejected', async () => {
  const service = createFakeService(OPTIONS)
  const data = { ...hr('A', '1').data, internal_reference: '2' }
  const records = [{ data, isDelete: false }]
  const outcomes = await write({ service, object: 'external_references', records })
  expect(outcomes).toMatchObject([{ outcome: 'rejected' }])
  expect(service.writes).toEqual([])
})

it('a column __proto__ gives a record no members', async () => {
  const service = createFakeService(OPTIONS)
  const data = JSON.parse(`{"__proto__": ${JSON.stringify(hr('A', '1').data)}}`)
  const records = [{ data, isDelete: false }]
  const outcomes = await write({ service, object: 'external_references', records })
  expect(outcomes).toMatchObject([{ outcome: 'rejected' }])
  expect(service.writes).toEqual([])
})

it('a batch that is split relinks as a whole one does', async () => {
  const service = createFakeService(OPTIONS)
  service.linksOf('people', 'hr').set('A', '1').set('B', '2')
  const records = [hr('A', '2'), hr('B', '1')]
  await write({ service, object: 'external_references', records, batchSize: 1 })
  expect([...service.linksOf('people', 'hr')].toSorted()).toEqual([
    ['A', '2'],
    ['B', '1'],
  ])
})

it.each([
  ['value', [hr('A', '1'), hr('A', '2')]],
  ['internalReference', [hr('A', '1'), hr('B', '1')]],
] as const)(
  'a batch that is split tells of two records of one %s as a whole one does',
  async (_, records) => {
    const service = createFakeService(OPTIONS)
    const object = 'external_references'
    const outcomes = await write({ service, object, records, batchSize: 1 })
    expect(outcomes).toMatchObject([
      { outcome: 'written' },
      { outcome: 'written', relinked: true, replaces: true },
    ])
  },
)

it('a run that is killed leaves no more links deleted than it has requests at a time', async () => {
  const service = createFakeService(OPTIONS)
  const people = service.linksOf('people', 'hr')
  const old = ['1', '2', '3', '4', '5', '6']
  for (const id of old) people.set(`old${id}`, id)
  const records = old.map((id) => hr(`new${id}`, id))
  await write({
    service,
    object: 'external_references',
    records,
    death: { after: 'delete', count: 5 },
  })
  expect(people.size).toBeGreaterThanOrEqual(old.length - CONCURRENCY)
})

describe.each([
  ['case alone', { cases: 'one' }],
  ['case alone', { cases: 'lower' }],
  ['inner blanks', { blanks: 'joined' }],
  ['inner blanks', { blanks: 'left out' }],
] as const)('values that differ in %s are one for a service with %j: ', (_, rules) => {
  const open = () => createFakeService({ ...OPTIONS, ...rules })
  const object = 'external_references'
  const [one, other] = 'cases' in rules ? ['A1', 'a1'] : ['A 1', 'A  1']
  const inOtherForm = { outcome: 'rejected', reason: expect.stringMatching(/in another form/) }

  it.each([
    ['both are new', []],
    ['the first is there', [[one, '1']]],
    ['the last is there', [[other, '1']]],
  ] as const)(
    'two records with another id each take it from each other in no run, in one batch or two, where %s',
    async (_, start) => {
      const service = open()
      const people = service.linksOf('people', 'hr')
      for (const [value, id] of start) people.set(value, id)
      for (const batchSize of [1000, 1, 1000]) {
        const records = [hr(one, '1'), hr(other, '2')]
        const outcomes = await write({ service, object, records, batchSize })
        expect(outcomes[1]).toMatchObject(inOtherForm)
        expect([...people.values()]).toEqual(['1'])
      }
    },
  )

  it('a value that is there in another form is rejected, and deleted when it is asked for', async () => {
    const service = open()
    const people = service.linksOf('people', 'hr')
    await write({ service, object, records: [hr(one, '1')] })
    const value = people.has(other) ? one : other
    expect(await write({ service, object, records: [hr(value, '1')] })).toMatchObject([inOtherForm])
    const records = [{ ...hr(value, '1'), isDelete: true }]
    expect(await write({ service, object, records })).toMatchObject([{ outcome: 'deleted' }])
    expect([...people]).toEqual([])
  })

  it('a value that is deleted in another form and then linked is linked', async () => {
    const service = open()
    const people = service.linksOf('people', 'hr').set(one, '1')
    const records = [{ ...hr(other, '1'), isDelete: true }, hr(one, '1')]
    await write({ service, object, records })
    expect([...people.values()]).toEqual(['1'])
  })

  it('a mirror deletes no value that its input has in another form', async () => {
    const service = open()
    const people = service.linksOf('people', 'hr').set(other, '1')
    const settings = { mirror: true, max_deletes: '0' }
    await write({ service, object, records: [hr(one, '1')], settings })
    expect([...people]).toEqual([[other, '1']])
  })
})

it('values that differ in form are two if the service has both', async () => {
  const service = createFakeService(OPTIONS)
  const people = service.linksOf('people', 'hr').set('A 1', '1').set('A1', '2').set('a1', '3')
  const records = [hr('A 1', '1'), hr('A1', '2')]
  const settings = { mirror: true, max_deletes: '1' }
  const outcomes = await write({ service, object: 'external_references', records, settings })
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['skipped', 'skipped', 'deleted'])
  expect([...people.keys()]).toEqual(['A 1', 'A1'])
})

it('a value can be respelled: the other form is deleted first', async () => {
  const service = createFakeService(OPTIONS)
  const people = service.linksOf('people', 'hr').set('a1', '1')
  const records = [{ ...hr('a1', '1'), isDelete: true }, hr('A1', '1')]
  await write({ service, object: 'external_references', records })
  expect([...people]).toEqual([['A1', '1']])
})

it('a job category keeps fields that this version does not know, which a PUT without them would empty', async () => {
  const service = createFakeService(OPTIONS)
  const stored = { name: { default: 'Clerks', short: 'C' }, colour: 'red', version: 1 }
  service.categories.set('1', stored)
  const records = [{ data: { id: 1, externalCode: 'A' }, isDelete: false }]
  await write({ service, object: 'job_categories', records })
  expect(service.categories.get('1')).toEqual({ ...stored, externalCode: 'A', version: 2 })
})

it.each([
  ['{"default":"Office"}', 'Office', undefined],
  ['{"default":"Office","Default":"O"}', 'Clerks', /name\.Default/],
  ['{"default":"A","default":"B"}', 'Clerks', /Duplicate key name\.default/],
  ["{'default': Office}", 'Clerks', /The name is in braces, but is no JSON object/],
  ['{Office', '{Office', undefined],
])('an object that a database has as the text %s is no name', async (name, stored, reason) => {
  const service = createFakeService(OPTIONS)
  service.categories.set('1', { name: { default: 'Clerks' }, version: 1 })
  const records = [{ data: { id: 1, name }, isDelete: false }]
  const [outcome] = await write({ service, object: 'job_categories', records })
  expect(service.categories.get('1')?.name).toEqual({ default: stored })
  if (reason !== undefined) expect(outcome?.reason).toMatch(reason)
})

it('a job category that is named in two cases gets the fields of both records', async () => {
  const service = createFakeService({ ...OPTIONS, cases: 'one' })
  service.categories.set('1', { name: { default: 'Clerks' }, version: 1 })
  service.linksOf('job-categories', 'erp').set('A', '1')
  const records = [
    { data: { externalReferences: { erp: 'A' }, externalCode: 'C' }, isDelete: false },
    { data: { externalReferences: { erp: 'a' }, name: 'Office' }, isDelete: false },
  ]
  await write({ service, object: 'job_categories', records })
  expect(service.categories.get('1')).toMatchObject({
    name: { default: 'Office' },
    externalCode: 'C',
  })
})

it('a job category that a late effect of an own request has undone is unknown', async () => {
  const service = createFakeService(OPTIONS)
  service.categories.set('1', { name: { default: 'Clerks' }, version: 1 })
  const records = ['A', 'B'].map((externalCode) => ({
    data: { id: 1, externalCode },
    isDelete: false,
  }))
  const faults = ['none', 'later'] as const
  const outcomes = await write({ service, object: 'job_categories', records, faults })
  expect(service.categories.get('1')?.externalCode).toBe('A')
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown'])
})

it.each([
  [
    'external_references',
    [hr('A', '1')],
    ['none', 'late, then refused', 'none', 'late, then refused'],
  ],
  [
    'job_categories',
    [{ data: { id: 1, externalCode: 'X' }, isDelete: false }],
    ['none', 'late, then refused'],
  ],
  ['work_locations', [NORTH], ['none', 'none', 'none', 'none', 'late, then refused']],
] as const)(
  'the outcome of one of the %s is unknown if an attempt was not answered and the next one was refused',
  async (object, records, faults) => {
    const service = createFakeService(OPTIONS)
    service.categories.set('1', { name: { default: 'Bakers' }, version: 1 })
    const outcomes = await write({ service, object, records, faults })
    expect(outcomes).toMatchObject([
      {
        outcome: 'unknown',
        status: 400,
        reason: expect.stringMatching(/Not now.*may have succeeded/),
      },
    ])
  },
)

it('a work location that is created late is found by an immediate second run, and not created again', async () => {
  const service = createFakeService(OPTIONS)
  const input = { service, object: 'work_locations', records: [NORTH] } as const
  expect(await write({ ...input, faults: NOT_CREATED_YET })).toMatchObject([{ outcome: 'unknown' }])
  expect(service.locations.size).toBe(0)
  expect(await write(input)).toMatchObject([{ outcome: 'adopted' }])
  expect(service.locations.size).toBe(1)
  expect(service.journal.entries).toEqual([])
})

it('a work location is not created again if its request had hung for a while, and takes effect even later', async () => {
  const service = createFakeService(OPTIONS)
  const input = { service, object: 'work_locations', records: [NORTH] } as const
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    expect(await write({ ...input, faults: NOT_CREATED_YET })).toMatchObject([
      { outcome: 'unknown' },
    ])
    vi.setSystemTime(Date.now() + A_MINUTE)
    expect(await write(input)).toMatchObject([{ outcome: 'adopted' }])
  } finally {
    vi.useRealTimers()
  }
  expect(service.locations.size).toBe(1)
})

it('a link that cannot be restored ends the references, and the next run restores it', async () => {
  const service = createFakeService({ ...OPTIONS, unknownRecord: 400, checkedFirst: 'link' })
  const people = service.linksOf('people', 'hr').set('A', '1').set('B', '2')
  const input = { service, object: 'external_references', batchSize: 1 } as const
  const records = [hr('A', '9'), hr('B', '3')]
  const faults = ['none', 'none', 'none', 'none', 'none', 'none', 'refused'] as const
  const outcomes = await write({ ...input, records, faults })
  expect(outcomes).toMatchObject([
    { outcome: 'rejected', reason: expect.stringMatching(/could not be restored/) },
    { outcome: 'rejected', reason: expect.stringMatching(/no more references are written/) },
  ])
  expect([...people]).toEqual([['B', '2']])
  await write({ ...input, records: [hr('B', '2')] })
  expect(Object.fromEntries(people)).toEqual({ A: '1', B: '2' })
})

it('a failure that concerns no single record stops everything, and reports what was done', async () => {
  const { connect } = createFakeService(OPTIONS)
  const client = connect()
  const down = new ClientError('transient', 'x-test', 'The service failed.', { status: 500 })
  const put = client.references.put
  Object.assign(client.references, {
    put: (reference: Parameters<typeof put>[0]) =>
      reference.value === 'B' ? Promise.reject(down) : put(reference),
  })
  const outcomes: unknown[] = []
  const writer = createWriter({
    client,
    settings: parseWriteSettings({}),
    onOutcome: ({ ordinal, outcome }) => void outcomes.push([ordinal, outcome]),
    signal: new AbortController().signal,
  })
  for (const [ordinal, value] of ['A', 'B', 'C'].entries())
    await writer.add({ object: 'external_references', ordinal, ...hr(value, String(ordinal + 1)) })
  await expect(writer.flush()).rejects.toBe(down)
  expect(outcomes).toContainEqual([0, 'written'])
  expect(outcomes).not.toContainEqual([1, expect.anything()])
})

it('an object without its scope is rejected completely, and the others are written', async () => {
  const { connect, categories } = createFakeService(OPTIONS)
  categories.set('1', { name: { default: 'Clerks' }, version: 1 })
  const client = connect()
  const missingScope = 'connector-svcapi-job-categories.write'
  const refusal = new ClientError('config', 'x-test', `It lacks ${missingScope}.`, { missingScope })
  Object.assign(client.jobCategories, { put: () => Promise.reject(refusal) })
  const outcomes: string[] = []
  const writer = createWriter({
    client,
    settings: parseWriteSettings({}),
    onOutcome: ({ outcome, reason = '' }) => void outcomes.push(`${outcome} ${reason}`.trim()),
    signal: new AbortController().signal,
  })
  const data = { id: 1, externalCode: 'X' }
  await writer.add({ object: 'job_categories', data, isDelete: false, ordinal: 0 })
  await writer.add({ object: 'external_references', ordinal: 1, ...hr('A', '1') })
  await writer.flush()
  expect(outcomes).toEqual(['written', `rejected It lacks ${missingScope}.`])
  expect([...writer.summary.failures]).toEqual([['job_categories', refusal]])
})
