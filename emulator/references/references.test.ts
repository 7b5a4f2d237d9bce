import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'
import { predefinedOf } from './references.ts'

describe('in the documentation', () => {
  let emulator: Emulator
  let client: TestClient
  beforeEach(async () => {
    emulator = await startEmulator({ people: 5, months: 0 })
    client = await connect(emulator)
  })
  afterEach(() => emulator.close())

  describe('external references', () => {
    // spec: Addressing 1
    it('are added to every object that they are about', async () => {
      emulator.setReference('people', 'erp', 'é/1', 1)
      emulator.insert('clockings', { date: '2026-11-01', person: { id: 1 }, terminal: { id: 1 } })
      const pairs = '(people,@employee-number)(people,erp)(terminals,@external-code)'
      const filter = "filter=date ge '2026-10-20' and date le '2026-11-19' and person eq 1"
      const { body } = await client.get(`/clockings?${filter}&externalReferences=${pairs}`)
      const [person] = emulator.all('people')
      const clocking = body.value.find((one) => one.terminal)
      expect(clocking?.person.externalReferences).toEqual({
        '@employee-number': person?.['employeeNumber'],
        erp: 'é/1',
      })
      expect(clocking?.terminal?.externalReferences['@external-code']).toMatch(/^T\d+$/)
    })

    it('are added to the record itself when they are its own', async () => {
      const { body } = await client.get('/people?externalReferences=(people,@badge-number)')
      expect(body.value[0]?.externalReferences['@badge-number']).toBe(body.value[0]?.badgeNumber)
    })

    // spec: External references 2
    it('can belong to another record only after they were removed', async () => {
      emulator.setReference('people', 'erp', 'A', 1)
      emulator.setReference('people', 'erp', 'A', 1)
      expect(() => emulator.setReference('people', 'erp', 'A', 2)).toThrow('linked to 1')
      emulator.removeReference('people', 'erp', 'A')
      emulator.setReference('people', 'erp', 'A', 2)
      expect(
        emulator.references('people').filter(({ referenceName }) => referenceName === 'erp'),
      ).toEqual([{ referenceName: 'erp', externalReference: 'A', internalReference: '2' }])
    })

    // spec: External references: kinds
    it.each([
      ['a predefined name', 'people', '@badge-number', 'A', 1, 'no custom reference'],
      ['an unknown record', 'people', 'erp', 'A', 99_999, 'no record 99999 in people'],
      ['an unknown collection', 'nothing', 'erp', 'A', 1, 'nothing takes no'],
      ['a collection without references', 'clockings', 'erp', 'A', 1, 'clockings takes no'],
      ['no name', 'people', '', 'A', 1, 'name'],
      ['no value', 'people', 'erp', '', 1, 'value'],
    ])('are not set for %s', (_, collection, name, value, id, sentence) => {
      expect(() => emulator.setReference(collection, name, value, id)).toThrow(sentence)
    })

    // spec: External references 2
    it('are left out if there is no value', async () => {
      const { body } = await client.get('/people?externalReferences=(people,nothing)')
      expect(body.value[0]).not.toHaveProperty('externalReferences')
    })

    it('name one record', async () => {
      const { badgeNumber, id } = emulator.all('people')[2] ?? {}
      const path = `/people/${badgeNumber}?externalReferences=(people,@badge-number)`
      expect(await client.get(path)).toMatchObject({ status: 200, body: { id } })
    })

    it('name the history of one person', async () => {
      emulator.setReference('people', 'erp', 'A B', 2)
      const path = '/people/A%20B/job-history?externalReferences=(people,erp)'
      const { body } = await client.get(path)
      expect(new Set(body.value.map((one) => one.person.id))).toEqual(new Set([2]))
    })

    it('are listed by name and value, page by page', async () => {
      emulator.options.pageSize = 2
      const { items } = await client.walk('/external-references/people')
      const ids = items.map(({ internalReference }) => Number(internalReference))
      expect(items[0]).toEqual({
        referenceName: 'payroll',
        externalReference: `P/${ids[0]} "é"`,
        internalReference: String(ids[0]),
      })
    })

    it('have one value per record and name', async () => {
      emulator.setReference('people', 'erp', 'old', 1)
      emulator.setReference('people', 'erp', 'new', 1)
      const { body } = await client.get('/external-references/people/erp')
      expect(body.value.map((one) => one.externalReference)).toEqual(['new'])
    })

    it('are found by their value', async () => {
      emulator.setReference('jobs', 'erp', 'x/y', 3)
      const { body } = await client.get('/external-references/jobs/erp/x%2Fy')
      expect(body).toEqual({
        referenceName: 'erp',
        externalReference: 'x/y',
        internalReference: '3',
      })
    })

    it('no longer exist after they are removed', async () => {
      emulator.setReference('jobs', 'erp', 'x', 3)
      emulator.removeReference('jobs', 'erp', 'x')
      expect(await client.get('/external-references/jobs/erp/x')).toMatchObject({ status: 404 })
    })

    // spec: Errors: 400 external reference management
    it.each([
      [400, '/external-references/clockings'],
      [400, '/external-references/nothing'],
      [400, '/external-references/people/@badge-number'],
      [404, '/external-references/people/payroll/none'],
    ])('answer %i to %s', async (status, path) => {
      expect(await client.get(path)).toMatchObject({ status })
    })
  })

  describe('a single record', () => {
    it.each([
      ['value', [404, 200]],
      ['id', [200, 404]],
    ] as const)('may be addressed by an integer as %s of the reference', async (kind, expected) => {
      emulator.options.integerReference = kind
      emulator.setReference('departments', 'erp', '901', 1)
      const paths = ['1', '901'].map(
        (one) => `/departments/${one}?externalReferences=(departments,erp)`,
      )
      const statuses = await Promise.all(paths.map(async (path) => (await client.get(path)).status))
      expect(statuses).toEqual(expected)
    })

    it.each([
      [200, '/people/1'],
      [404, '/people/9999'],
      [400, '/people/abc'],
      [404, '/people/abc?externalReferences=(people,@badge-number)'],
      [400, '/clockings/abc'],
      [404, '/calculated-totals/1'],
      [400, '/departments/1?externalReferences=(people,x)'],
      [404, '/people/1/unknown-history'],
    ])('answers %i to %s', async (status, path) => {
      expect(await client.get(path)).toMatchObject({ status })
    })
  })
})

describe('in the specification', () => {
  let emulator: Emulator
  let client: TestClient
  beforeEach(async () => {
    emulator = await startEmulator({ dialect: 'specification', people: 3, months: 0 })
    client = await connect(emulator)
  })
  afterEach(() => emulator.close())

  describe('a resource', () => {
    it.each(['job-categories', 'departments'])(
      'of %s is addressed by its id or by a custom reference',
      async (collection) => {
        emulator.setReference(collection, 'erp', 'A/1 é', 2)
        const byReference = `/${collection}/${encodeURIComponent('A/1 é')}?externalReferences=(${collection},erp)`
        const [byId, found] = await Promise.all([
          client.get(`/${collection}/2`),
          client.get(byReference),
        ])
        expect([byId.body, found.body]).toMatchObject([{ id: 2 }, { id: 2 }])
      },
    )

    // spec: Addressing 4
    it.each(['job-categories', 'departments'])(
      'of %s has no predefined references',
      async (collection) => {
        const path = `/${collection}/x?externalReferences=(${collection},@external-code)`
        expect(await client.get(path)).toMatchObject({ status: 400 })
      },
    )

    it('is addressed by the first of several references', async () => {
      emulator.setReference('departments', 'erp', 'first', 1)
      emulator.setReference('departments', 'payroll', 'second', 2)
      const pairs = '(departments,erp)(departments,payroll)'
      const answers = ['first', 'second'].map((value) =>
        client.get(`/departments/${value}?externalReferences=${pairs}`),
      )
      expect(await Promise.all(answers)).toMatchObject([
        { status: 200, body: { id: 1 } },
        { status: 404 },
      ])
    })

    // spec: Addressing 1
    it('shows all requested references', async () => {
      emulator.setReference('departments', 'erp', 'A', 1)
      emulator.setReference('departments', 'payroll', 'B', 1)
      const pairs = '(departments,erp)(departments,payroll)'
      const answer = await client.get(`/departments/A?externalReferences=${pairs}`)
      expect(answer.body).toHaveProperty('externalReferences', { erp: 'A', payroll: 'B' })
    })

    // spec: Errors: 400 external reference specification
    it('is a 400 for a reference without the parameter that names it', async () => {
      emulator.setReference('departments', 'erp', 'A', 1)
      expect(await client.get('/departments/A')).toMatchObject({ status: 400 })
    })

    // spec: Addressing 4
    it('of access-clockings shows references of people and terminals, no others', async () => {
      const { id } = emulator.insert('access-clockings', { person: { id: 1 }, terminal: { id: 1 } })
      const pairs = '(people,@badge-number)(terminals,@external-code)'
      const shown = await client.get(`/access-clockings/${id}?externalReferences=${pairs}`)
      const refused = await client.get(
        `/access-clockings/${id}?externalReferences=(departments,erp)`,
      )
      expect([shown, refused]).toMatchObject([
        {
          body: {
            person: { externalReferences: { '@badge-number': expect.any(String) } },
            terminal: { externalReferences: { '@external-code': expect.any(String) } },
          },
        },
        { status: 400 },
      ])
    })

    // spec: External references 2
    it('may have a value that another name or another collection has too', async () => {
      emulator.setReference('departments', 'erp', 'A', 1)
      emulator.setReference('departments', 'payroll', 'A', 2)
      emulator.setReference('job-categories', 'erp', 'A', 3)
      const answers = [
        '/departments/A?externalReferences=(departments,erp)',
        '/departments/A?externalReferences=(departments,payroll)',
        '/job-categories/A?externalReferences=(job-categories,erp)',
      ].map((path) => client.get(path))
      expect(await Promise.all(answers)).toMatchObject([1, 2, 3].map((id) => ({ body: { id } })))
    })
  })

  describe('external references', () => {
    // spec: Addressing 5
    // spec: Errors: 400 unsupported query parameter
    it.each([
      '/employers?',
      '/work-locations?',
      '/shift-definitions?',
      '/employers?delta&',
      '/departments?delta&',
      '/jobs?delta&',
      '/shift-definitions?delta&',
    ])('are refused by %s', async (path) => {
      const [, collection] = /^\/([a-z-]+)/.exec(path) ?? []
      const answer = await client.get(`${path}externalReferences=(${collection},erp)`)
      expect(answer).toMatchObject({ status: 400 })
    })

    // spec: External references: kinds
    it.each([
      ['absence-definitions', ['@absence-code']],
      ['activity-definitions', ['@data-entry-code', '@external-reference']],
      ['counter-definitions', ['@counter-code']],
      ['people', ['@badge-number', '@employee-number']],
      ['shift-definitions', ['@shift-code']],
      ['terminals', ['@external-code']],
    ])('that are predefined for %s are %j', (collection, names) => {
      expect(Object.keys(predefinedOf(collection) ?? {})).toEqual(names)
    })
  })
})
