import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'

let emulator: Emulator
let client: TestClient
beforeEach(async () => {
  emulator = await startEmulator({ dialect: 'specification', people: 3, months: 1 })
  client = await connect(emulator)
})
afterEach(() => emulator.close())

const clockings = "/access-clockings?filter=date ge '2026-10-20'"

describe('the endpoints of the specification', () => {
  it.each([
    '/external-references/people',
    '/external-references/people/payroll',
    '/job-categories/1',
    '/work-locations',
    '/access-clockings/1',
    `${clockings}&delta`,
    '/departments/1',
    '/departments?delta',
    '/employers',
    '/employers?delta',
    '/jobs?delta',
    '/shift-definitions',
    '/shift-definitions?delta',
  ])('answer GET %s', async (path) => {
    expect(await client.get(path)).toMatchObject({ status: 200 })
  })

  // spec: Conventions: id
  // spec: Work locations: GET
  // spec: Employers and shift definitions: GET
  // spec: Errors: 400 unsupported query parameter
  // spec: Errors: 404
  it.each([
    [404, '/access-clockings/999999'],
    [400, '/access-clockings/first'],
    [404, '/departments/999999'],
    [404, '/job-categories/999999'],
    [404, '/job-categories/unknown?externalReferences=(job-categories,erp)'],
    [400, '/work-locations?filter=person eq 1'],
    [400, '/employers?filter=person eq 1'],
    [400, '/shift-definitions?filter=enabled eq true'],
    [400, '/employers?delta&filter=person eq 1'],
    [400, '/departments?delta&filter=person eq 1'],
    [400, '/jobs?delta&filter=person eq 1'],
    [400, '/shift-definitions?delta&filter=enabled eq true'],
    [400, `${clockings} and status eq 'AccessOk'&delta`],
    [400, `${clockings} and colour eq 'red'&delta`],
  ])('answer %i to %s', async (status, path) => {
    expect(await client.get(path)).toMatchObject({ status })
  })

  // spec: Authentication 8
  it.each([
    ['/employers', 'employers', 200],
    ['/employers', 'departments', 401],
    ['/external-references/people', 'external-references', 200],
    ['/external-references/people', 'people', 401],
  ])('answer %s with a token for %s by %i', async (path, scope, status) => {
    const limited = await connect(emulator, `connector-svcapi-${scope}.read`)
    expect(await limited.get(path)).toMatchObject({ status })
  })

  // spec: Errors: 401
  it.each([undefined, 'Bearer', 'Bearer nonsense', 'Basic YTpi'])(
    'answer 401 to the authorization %j',
    async (authorization) => {
      const headers = { 'user-agent': 'Tests/1', ...(authorization && { authorization }) }
      expect(await client.get('/employers', { headers })).toMatchObject({ status: 401 })
    },
  )

  // spec: Delta mode 3
  it.each(['/departments', '/employers', '/jobs', '/shift-definitions'])(
    'have a changeVersion in every record of a delta (%s)',
    async (path) => {
      const { items } = await client.walk(`${path}?delta`)
      const versions = items.map(({ changeVersion }) => changeVersion)
      expect([versions.length > 0, versions]).toEqual([
        true,
        versions.map(() => expect.any(String)),
      ])
    },
  )

  it('have translations by language, and none by culture', async () => {
    emulator.insert('employers', {
      name: { default: 'X', translations: { nl: 'X', 'nl-BE': 'X' } },
    })
    const { items } = await client.walk('/employers')
    const names = items.flatMap(({ name }) => Object.keys(name.translations))
    expect([names.length > 0, names.filter((key) => key.length !== 2)]).toEqual([true, []])
  })

  // spec: Authentication 2
  // spec: Errors: 400 token endpoint, invalid_client
  it('know credentials of their own tenant only', async () => {
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: 'connector',
      client_secret: 'emulator-secret',
    })
    const address = `${emulator.url}/tenants/another/connect/token`
    const answer = await fetch(address, { method: 'POST', body: form })
    expect([answer.status, await answer.json()]).toEqual([400, { error: 'invalid_client' }])
  })

  // spec: Versioning 1
  it('lie below the version v1, not v2', async () => {
    const statuses = ['v1', 'v2'].map(async (version) => {
      const url = `${emulator.url}/connector/svcapi/api/${version}/employers`
      return (await client.get(url)).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 404])
  })
})
