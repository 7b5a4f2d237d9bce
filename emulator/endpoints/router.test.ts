import { describe, expect, it } from 'vitest'
import { askToken, connect, shareEmulators, type TestClient } from '../test-client.ts'

const started = shareEmulators()

const clients = [{ id: 'writer', secret: 'b', scopes: 'all' }] as const
const writing = { people: 2, months: 0, clients }

const name = { default: 'Crane' }
const internalReference = '1'
const writes: readonly [string, string, string, object | undefined, number][] = [
  ['PUT', '/external-references/people/hr/A1', 'external-references', { internalReference }, 200],
  ['DELETE', '/external-references/people/hr/B1', 'external-references', undefined, 404],
  ['PUT', '/job-categories/1', 'job-categories', { name }, 200],
  ['POST', '/work-locations', 'work-locations', { name }, 201],
]

describe.each([
  ['documentation', 403],
  ['specification', 401],
] as const)('in the %s', (dialect, refused) => {
  const options = { ...writing, dialect }
  /** A client that is granted this scope alone. */
  const connectFor = async (scope: string) => {
    const { emulator } = await started(options)
    return connect(emulator, `connector-${emulator.options.apiName}-${scope}`)
  }

  // spec: Authentication 6
  // spec: Authentication 8
  // spec: Endpoints: PUT /external-references/{collectionName}/{referenceName}/{externalReference}
  // spec: Endpoints: DELETE /external-references/{collectionName}/{referenceName}/{externalReference}
  // spec: Endpoints: PUT /job-categories/{jobCategoryReference}
  // spec: Endpoints: POST /work-locations
  it.each(writes)('%s %s needs the scope of writing %s', async (method, path, of, body, status) => {
    const grants = [`${of}.write`, 'all.write', `${of}.read`, 'all.read', 'people.write']
    const statuses = grants.map(async (grant) => {
      const client = await connectFor(grant)
      return (await client.send(method, path, body)).status
    })
    expect(await Promise.all(statuses)).toEqual([status, status, refused, refused, refused])
  })

  // spec: Authentication 6
  it.each(['/external-references/people/hr/A1', '/job-categories/1', '/work-locations'])(
    'the scope of writing reads nothing at %s',
    async (path) => {
      const { emulator } = await started(options)
      emulator.setReference('people', 'hr', 'A1', 1)
      const client = await connectFor(`${path.split('/')[1]}.write`)
      expect(await client.get(path)).toMatchObject({ status: refused })
    },
  )

  it('401 and a missing scope come before 405, which lists the methods of the path', async () => {
    const nobody = { method: 'DELETE', headers: { 'user-agent': 'Tests/1' } }
    const [stranger, reader] = [
      await connectFor('employers.read'),
      await connectFor('work-locations.read'),
    ]
    const answers = [
      await stranger.get('/work-locations', nobody),
      await stranger.send('DELETE', '/work-locations'),
      await reader.send('DELETE', '/work-locations'),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, refused, 405])
    expect(answers.at(-1)?.headers.get('allow')).toBe('GET, HEAD, POST')
  })
})

describe('a method', () => {
  it.each([
    ['POST', '/people', 'GET, HEAD'],
    ['POST', '/activity-structure-versions/', 'GET, HEAD'],
    ['PUT', '/people/1', 'GET, HEAD'],
    ['DELETE', '/job-categories/1', 'GET, HEAD, PUT'],
    ['PATCH', '/job-categories/1', 'GET, HEAD, PUT'],
    ['PUT', '/work-locations', 'GET, HEAD, POST'],
    ['POST', '/external-references/people/hr/A1', 'GET, HEAD, PUT, DELETE'],
    ['PUT', '/external-references/people/hr', 'GET, HEAD'],
    ['DELETE', '/external-references/people', 'GET, HEAD'],
    ['POST', '/delta/people', 'GET, HEAD'],
  ])('%s %s is not there, and Allow says what is', async (method, path, allowed) => {
    const { emulator, client } = await started(writing)
    const [version] = emulator.activityStructures
    const below = `${version?.structure_version_id}/levels/${version?.level}/activity-definitions`
    const target = path.endsWith('/') ? path + below : path
    const answer = await client.send(method, target, {})
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed])
  })
})

describe('a client without scopes', () => {
  it('gets no scope for writing, even if it requests one', async () => {
    const { emulator } = await started({ ...writing, clients: [{ id: 'a', secret: 'b' }] })
    const granted = (await askToken(emulator)).body.scope
    const scope = `connector-${emulator.options.apiName}-external-references.write`
    expect([granted.includes('.write'), await askToken(emulator, { scope })]).toMatchObject([
      false,
      { status: 400, body: { error: 'invalid_scope' } },
    ])
  })
})

const inSpecification = () => started({ dialect: 'specification', people: 3, months: 1 })
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
    const { client } = await inSpecification()
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
    const { client } = await inSpecification()
    expect(await client.get(path)).toMatchObject({ status })
  })

  // spec: Authentication 8
  it.each([
    ['/employers', 'employers', 200],
    ['/employers', 'departments', 401],
    ['/external-references/people', 'external-references', 200],
    ['/external-references/people', 'people', 401],
  ])('answer %s with a token for %s by %i', async (path, scope, status) => {
    const { emulator } = await inSpecification()
    const limited = await connect(emulator, `connector-svcapi-${scope}.read`)
    expect(await limited.get(path)).toMatchObject({ status })
  })

  // spec: Errors: 401
  it.each([undefined, 'Bearer', 'Bearer nonsense', 'Basic YTpi'])(
    'answer 401 to the authorization %j',
    async (authorization) => {
      const { client } = await inSpecification()
      const headers = { 'user-agent': 'Tests/1', ...(authorization && { authorization }) }
      expect(await client.get('/employers', { headers })).toMatchObject({ status: 401 })
    },
  )

  // spec: Delta mode 3
  it.each(['/departments', '/employers', '/jobs', '/shift-definitions'])(
    'have a changeVersion in every record of a delta (%s)',
    async (path) => {
      const { client } = await inSpecification()
      const { items } = await client.walk(`${path}?delta`)
      const versions = items.map(({ changeVersion }) => changeVersion)
      expect([versions.length > 0, versions]).toEqual([
        true,
        versions.map(() => expect.any(String)),
      ])
    },
  )

  it('have translations by language, and none by culture', async () => {
    const { emulator, client } = await inSpecification()
    emulator.insert('employers', {
      name: { default: 'X', translations: { nl: 'X', 'nl-BE': 'X' } },
    })
    const { items } = await client.walk('/employers')
    const names = items.flatMap(({ name }) => Object.keys(name.translations))
    expect([names.length > 0, names.filter((key) => key.length !== 2)]).toEqual([true, []])
  })

  // spec: Authentication 2
  // spec: Errors: 400 token endpoint, invalid_client
  it('accept only credentials of their own tenant', async () => {
    const { emulator } = await inSpecification()
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
  it('are below the version v1, not v2', async () => {
    const { emulator, client } = await inSpecification()
    const statuses = ['v1', 'v2'].map(async (version) => {
      const url = `${emulator.url}/connector/svcapi/api/${version}/employers`
      return (await client.get(url)).status
    })
    expect(await Promise.all(statuses)).toEqual([200, 404])
  })
})

const documented = { people: 3, months: 0 }
const tenant = async (path: string, init?: RequestInit) =>
  fetch(`${(await started(documented)).emulator.url}/tenants${path}`, init)
const headersOf = ({ token }: TestClient, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${token}`,
  'user-agent': 'Tests/1 (Acme)',
  ...more,
})

describe('a request', () => {
  it('HEAD is answered like GET, without the body', async () => {
    const { client } = await started(documented)
    const got = await client.get('/people')
    const answer = await client.get('/people', { method: 'HEAD', headers: headersOf(client) })
    expect([answer.status, answer.headers.get('content-length')]).toEqual([
      200,
      got.headers.get('content-length'),
    ])
  })

  it.each([
    ['GET', '/demo/connect/token', 'POST'],
    ['POST', '/demo/.well-known/openid-configuration', 'GET, HEAD'],
  ])('%s %s is answered by what is allowed', async (method, path, allowed) => {
    const answer = await tenant(path, { method })
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed])
  })
})

describe('a path', () => {
  it.each(['/employers/', '/people/1/', '//people', '/external-references/people/'])(
    'with an empty part leads nowhere (%s)',
    async (path) => {
      const { client } = await started(documented)
      expect(await client.get(path)).toMatchObject({ status: 404 })
    },
  )

  it('of an unknown tenant has no discovery document', async () => {
    expect((await tenant('/another/.well-known/openid-configuration')).status).toBe(404)
  })
})

describe('a URL', () => {
  // The length counts the origin.
  const people = async (length: number) => {
    const { emulator, client } = await started(documented)
    const path = `${emulator.url}/connector/protimeapi/api/v1/people?x=`
    return client.get(path + 'x'.repeat(length - path.length))
  }

  // spec: Filtering: URL length
  // spec: Errors: 414
  // spec: Limits: URL length
  it.each([
    [4096, 200],
    [4097, 414],
    [60_000, 414],
  ])('of %i characters is answered by %i', async (length, status) => {
    expect(await people(length)).toMatchObject({ status })
  })

  // spec: Limits: URL length
  it('of a token may not be longer, either', async () => {
    const answer = await tenant(`/demo/connect/token?x=${'x'.repeat(4096)}`, { method: 'POST' })
    expect(answer.status).toBe(414)
  })
})

describe('a compressed answer', () => {
  it.each([
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['br;q=0.1, gzip', 'gzip'],
    ['gzip;q=0', null],
    ['br;q=0, *', 'gzip'],
    ['identity', null],
  ])('to a client that accepts %s has the encoding %j', async (accepted, encoding) => {
    const { client } = await started({ ...documented, compress: true })
    const answer = await client.get('/people', {
      headers: headersOf(client, { 'accept-encoding': accepted }),
    })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
  })
})
