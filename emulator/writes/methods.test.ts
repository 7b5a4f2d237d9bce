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

  const countAfter = async (wrong: () => void) => {
    await start()
    const client = await connect(emulator)
    const count = () => emulator.all('work-locations').length
    const before = count()
    wrong()
    const signal = AbortSignal.timeout(300)
    const headers = { authorization: `Bearer ${client.token}`, 'user-agent': 'Tests/1 (Acme)' }
    const init = { method: 'POST', body: JSON.stringify({ name }), headers, signal }
    const answer = await client.get('/work-locations', init).catch(() => undefined)
    return { status: answer?.status, made: () => count() - before }
  }

  it.each([500, 503, 524])('%i with an effect is a write that is done', async (status) => {
    const after = await countAfter(() => emulator.fail('/work-locations', status, { effectMs: 0 }))
    expect([after.status, after.made()]).toEqual([status, 1])
  })

  it('503 with a late effect is a write that is done after the answer', async () => {
    const after = await countAfter(() => emulator.fail('/work-locations', 503, { effectMs: 150 }))
    expect([after.status, after.made()]).toEqual([503, 0])
    await expect.poll(after.made).toBe(1)
  })

  it.each(['reset', 'html', 'hang'] as const)('%s with an effect is a write done', async (kind) => {
    const after = await countAfter(() => emulator.fault('/work-locations', kind, { effectMs: 0 }))
    expect(after.made()).toBe(1)
  })

  it('repeat writes twice, and the second answer arrives', async () => {
    const after = await countAfter(() => emulator.fault('/work-locations', 'repeat', { times: 1 }))
    expect([after.status, after.made()]).toEqual([201, 2])
  })

  it('has no second effect for what the service does anyway', () => {
    const wrong = () => emulator.fault('/work-locations', 'slow', { effectMs: 0 })
    expect(wrong).toThrow('effectMs goes with reset, html, hang, not with slow')
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
