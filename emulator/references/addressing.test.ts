import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'
import { predefinedOf } from './references.ts'

let emulator: Emulator
let client: TestClient
beforeEach(async () => {
  emulator = await startEmulator({ dialect: 'specification', people: 3, months: 1 })
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
  it('shows all references that are asked for', async () => {
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
    const pairs = '(people,@badge-number)(terminals,@external-code)'
    const shown = await client.get(`/access-clockings/1?externalReferences=${pairs}`)
    const refused = await client.get('/access-clockings/1?externalReferences=(departments,erp)')
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
