import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect, type TestClient } from '../test-client.ts'

let emulator: Emulator
let client: TestClient
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 0 })
  client = await connect(emulator)
})
afterEach(() => emulator.close())

const tenant = (path: string, init?: RequestInit) => fetch(`${emulator.url}/tenants${path}`, init)
const headers = (more: Record<string, string> = {}) => ({
  authorization: `Bearer ${client.token}`,
  'user-agent': 'Tests/1 (Acme)',
  ...more,
})

describe('a method', () => {
  it('HEAD is answered like GET, without the body', async () => {
    const got = await client.get('/people')
    const answer = await client.get('/people', { method: 'HEAD', headers: headers() })
    expect([answer.status, answer.headers.get('content-length')]).toEqual([
      200,
      got.headers.get('content-length'),
    ])
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s is no way to ask for people, and the answer says what is',
    async (method) => {
      const answer = await client.get('/people', { method, headers: headers() })
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    },
  )

  it('is looked at after the token', async () => {
    const nobody = { 'user-agent': 'Tests/1 (Acme)' }
    const answer = await client.get('/people', { method: 'POST', headers: nobody })
    expect(answer.status).toBe(401)
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
      expect(await client.get(path)).toMatchObject({ status: 404 })
    },
  )

  it('of an unknown tenant has no discovery document', async () => {
    expect((await tenant('/another/.well-known/openid-configuration')).status).toBe(404)
  })
})

describe('a URL', () => {
  // The length counts the origin.
  const people = (length: number) => {
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
  it('of a token may not be longer either', async () => {
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
    emulator.options.compress = true
    const answer = await client.get('/people', {
      headers: headers({ 'accept-encoding': accepted }),
    })
    expect(answer.headers.get('content-encoding')).toBe(encoding)
  })
})
