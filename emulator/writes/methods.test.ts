import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import type { EmulatorOptions } from '../options.ts'
import { askToken, connect } from '../test-client.ts'

let emulator: Emulator
const start = async (options: EmulatorOptions = {}) => {
  const clients = [{ id: 'writer', secret: 'b', scopes: 'all' }] as const
  emulator = await startEmulator({ people: 2, months: 0, clients, ...options })
}
afterEach(() => emulator.close())

const name = { default: 'Crane' }
const internalReference = '1'
const writes: readonly [string, string, string, object | undefined, number][] = [
  ['PUT', '/external-references/people/hr/A1', 'external-references', { internalReference }, 200],
  ['DELETE', '/external-references/people/hr/A1', 'external-references', undefined, 404],
  ['PUT', '/job-categories/1', 'job-categories', { name }, 200],
  ['POST', '/work-locations', 'work-locations', { name }, 201],
]

describe.each([
  ['documentation', 403],
  ['specification', 401],
] as const)('in the %s', (dialect, refused) => {
  beforeEach(() => start({ dialect }))
  const scope = (short: string) => `connector-${emulator.options.apiName}-${short}`

  // spec: Authentication 6
  // spec: Authentication 8
  // spec: Endpoints: PUT /external-references/{collectionName}/{referenceName}/{externalReference}
  // spec: Endpoints: DELETE /external-references/{collectionName}/{referenceName}/{externalReference}
  // spec: Endpoints: PUT /job-categories/{jobCategoryReference}
  // spec: Endpoints: POST /work-locations
  it.each(writes)('%s %s needs the scope of writing %s', async (method, path, of, body, status) => {
    const grants = [`${of}.write`, 'all.write', `${of}.read`, 'all.read', 'people.write']
    const statuses = grants.map(async (grant) => {
      const client = await connect(emulator, scope(grant))
      return (await client.send(method, path, body)).status
    })
    expect(await Promise.all(statuses)).toEqual([status, status, refused, refused, refused])
  })

  // spec: Authentication 6
  it.each(['/external-references/people/hr/A1', '/job-categories/1', '/work-locations'])(
    'the scope of writing reads nothing at %s',
    async (path) => {
      emulator.setReference('people', 'hr', 'A1', 1)
      const client = await connect(emulator, scope(`${path.split('/')[1]}.write`))
      expect(await client.get(path)).toMatchObject({ status: refused })
    },
  )

  it('401 and a missing scope come before 405, which says what the path can do', async () => {
    const nobody = { method: 'DELETE', headers: { 'user-agent': 'Tests/1' } }
    const [stranger, reader] = [
      await connect(emulator, scope('employers.read')),
      await connect(emulator, scope('work-locations.read')),
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
    await start()
    const [version] = emulator.activityStructures
    const below = `${version?.structure_version_id}/levels/${version?.level}/activity-definitions`
    const target = path.endsWith('/') ? path + below : path
    const client = await connect(emulator)
    const answer = await client.send(method, target, {})
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, allowed])
  })
})

describe('a client without scopes', () => {
  it('is granted no writing, also when it asks for it', async () => {
    await start({ clients: [{ id: 'a', secret: 'b' }] })
    const granted = (await askToken(emulator)).body.scope
    const scope = `connector-${emulator.options.apiName}-external-references.write`
    expect([granted.includes('.write'), await askToken(emulator, { scope })]).toMatchObject([
      false,
      { status: 400, body: { error: 'invalid_scope' } },
    ])
  })
})

describe('a fault', () => {
  it('after-last-byte leaves what a write has done', async () => {
    await start()
    const client = await connect(emulator)
    const before = emulator.all('work-locations').length
    emulator.fault('/work-locations', 'after-last-byte', { times: 1, method: 'post' })
    const read = await client.get('/work-locations')
    await expect(client.send('POST', '/work-locations', { name })).rejects.toThrow()
    expect([read.status, emulator.all('work-locations').length]).toEqual([200, before + 1])
  })

  it('reset leaves no trace of a write', async () => {
    await start()
    const client = await connect(emulator)
    const path = '/external-references/people/hr/A1'
    emulator.fault(path, 'reset', { times: 1 })
    await expect(client.send('PUT', path, { internalReference })).rejects.toThrow()
    expect(await client.get(path)).toMatchObject({ status: 404 })
  })
})
