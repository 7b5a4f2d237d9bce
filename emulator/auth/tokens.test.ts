import { afterEach, describe, expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator.ts'
import { askToken, connect } from '../test-client.ts'

let emulator: Emulator
afterEach(() => emulator.close())

const start = async (options: EmulatorOptions = {}) => {
  emulator = await startEmulator({ people: 1, months: 0, ...options })
}

describe('the token service', () => {
  // spec: Endpoints: POST {auth_url}/connect/token
  it('grants the requested scopes', async () => {
    await start()
    const { body } = await askToken(emulator, { scope: 'connector-protimeapi-people.read' })
    expect(body).toEqual({
      access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
      expires_in: 1800,
      token_type: 'Bearer',
      scope: 'connector-protimeapi-people.read',
    })
  })

  it('grants all scopes of the client if none is requested', async () => {
    await start({ clients: [{ id: 'a', secret: 'b', scopes: ['people', 'jobs.read'] }] })
    const { body } = await askToken(emulator)
    expect(body.scope).toBe('connector-protimeapi-people.read connector-protimeapi-jobs.read')
  })

  // spec: Authentication 7
  // spec: Errors: 400 token endpoint, invalid_scope
  it.each([
    [
      'invalid_scope',
      { scope: 'connector-protimeapi-people.read connector-protimeapi-peple.read' },
    ],
    ['invalid_scope', { scope: 'connector-protimeapi-all.read' }],
    ['invalid_scope', { scope: 'connector-protimeapi-paid-presences.read' }],
    ['invalid_client', { client_secret: 'wrong' }],
    ['invalid_client', { client_id: 'wrong' }],
    ['unsupported_grant_type', { grant_type: 'password' }],
  ])('answers %s to %j', async (error, form: Record<string, string>) => {
    await start()
    expect(await askToken(emulator, form)).toMatchObject({ status: 400, body: { error } })
  })

  // spec: Authentication 6
  it('grants every scope to a client of all scopes, and only reading to others', async () => {
    const everything = { id: 'all', secret: 'b', scopes: 'all' } as const
    await start({ clients: [everything], dialect: 'specification' })
    const granted = (await askToken(emulator)).body.scope.split(' ')
    emulator.options.clients = [{ id: 'reader', secret: 'b' }]
    const reader = (await askToken(emulator)).body.scope.split(' ')
    const beyond = granted.filter((scope) => !reader.includes(scope))
    expect(reader.filter((scope) => !/\.read$/.test(scope))).toEqual([])
    expect(beyond).toEqual(
      expect.arrayContaining(
        ['all.read', 'all.write', 'webhooks.read', 'webhooks.write', 'people.write'].map(
          (name) => `connector-svcapi-${name}`,
        ),
      ),
    )
    expect(beyond.filter((scope) => !/\.write$|-(webhooks|all)\.read$/.test(scope))).toEqual([])
  })

  it('knows terminals as a collection of the specification', async () => {
    await start({ dialect: 'specification' })
    const scope = 'connector-svcapi-terminals.read'
    expect(await askToken(emulator, { scope })).toMatchObject({ status: 200, body: { scope } })
  })

  it('states its address', async () => {
    await start()
    const address = `${emulator.url}/tenants/demo`
    const answer = await fetch(`${address}/.well-known/openid-configuration`)
    expect(await answer.json()).toMatchObject({ token_endpoint: `${address}/connect/token` })
  })

  it('puts the virtual time on its answers', async () => {
    await start({ now: '2030-02-03T04:05:06Z' })
    const { headers } = await askToken(emulator)
    expect(headers.get('date')).toMatch(/^Sun, 03 Feb 2030 04:05:0/)
  })
})

describe('an access token', () => {
  it.each([
    ['documentation', 403],
    ['specification', 401],
  ] as const)('without the scope is refused by the %s with %i', async (dialect, status) => {
    await start({ dialect })
    const scope = `connector-${emulator.options.apiName}-people.read`
    const client = await connect(emulator, scope)
    expect(await client.get('/employers')).toMatchObject({ status })
  })

  it.each([
    ['documentation', 'calculated-totals', '/paid-presences', 400],
    ['documentation', 'people-historical-data', '/job-histories', 200],
    ['documentation', 'people', '/job-histories', 200],
    ['documentation', 'calculated-totals', '/breaks', 403],
    ['documentation', 'external-references', '/external-references/people', 200],
  ] as const)('of the %s for %s meets %s with %i', async (dialect, name, path, status) => {
    await start({ dialect })
    const client = await connect(emulator, `connector-${emulator.options.apiName}-${name}.read`)
    expect(await client.get(path)).toMatchObject({ status })
  })

  // spec: Authentication 6
  it('for everything opens every collection', async () => {
    await start({ clients: [{ id: 'a', secret: 'b', scopes: 'all' }] })
    const client = await connect(emulator, 'connector-protimeapi-all.read')
    expect(await client.get('/people')).toMatchObject({ status: 200 })
  })

  // spec: Authentication 6
  it('for writing opens no list', async () => {
    await start({ clients: [{ id: 'a', secret: 'b', scopes: 'all' }] })
    const client = await connect(
      emulator,
      'connector-protimeapi-people.write connector-protimeapi-all.write',
    )
    expect(await client.get('/people')).toMatchObject({ status: 403 })
  })

  it('says in whole seconds when it ends', async () => {
    await start()
    const [, claims = ''] = (await connect(emulator)).token.split('.')
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    expect(Number.isInteger(exp)).toBe(true)
  })

  // spec: Authentication 5
  it('expires by the virtual clock', async () => {
    await start()
    const client = await connect(emulator)
    emulator.advance({ minutes: 31 })
    expect(await client.get('/people')).toMatchObject({ status: 401 })
  })

  it('expires on demand', async () => {
    await start()
    const client = await connect(emulator)
    emulator.expireTokens()
    expect(await client.get('/people')).toMatchObject({ status: 401 })
  })
})

it('a request without a User-Agent is refused', async () => {
  await start()
  const client = await connect(emulator)
  const headers = { authorization: `Bearer ${client.token}`, 'user-agent': '' }
  expect(await client.get('/people', { headers })).toMatchObject({ status: 400 })
})
