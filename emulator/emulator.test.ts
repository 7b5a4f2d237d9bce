import { afterEach, expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from './emulator.ts'
import { askToken, connect } from './test-client.ts'

const running: Emulator[] = []
const start = async (options: EmulatorOptions) => {
  const emulator = await startEmulator({ people: 3, months: 0, ...options })
  running.push(emulator)
  return emulator
}
afterEach(async () => {
  await Promise.all(running.splice(0).map((emulator) => emulator.close()))
})

it('two tenants run at once, with tokens, records and a clock of their own', async () => {
  const [one, other] = [await start({ tenant: 'one' }), await start({ tenant: 'two', seed: 2 })]
  const { token } = await connect(one)
  const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
  one.advance({ days: 1 })
  one.remove('people', 1)
  expect([
    (await (await connect(other)).get('/people', { headers })).status,
    (await fetch(`${other.url}/tenants/one/.well-known/openid-configuration`)).status,
    (await askToken(other)).status,
    one.config()['tenant'],
    other.config()['tenant'],
    other.all('people').length,
    one.now() > other.now(),
  ]).toEqual([401, 404, 200, 'one', 'two', 3, true])
})

it('a configuration can name a domain, and has the addresses of this machine', async () => {
  const emulator = await start({ environmentDomain: 'myprotimesandbox.eu' })
  expect(emulator.config()['environment']).toEqual({
    type: 'custom',
    environment_url: 'myprotimesandbox.eu',
    api_name: 'protimeapi',
    base_url: emulator.url,
    auth_url: `${emulator.url}/tenants/demo`,
  })
})

it.each(['127.0.0.1', 'localhost'] as const)(
  'whoever asks at %s has links that lead there, and records of the one tenant',
  async (host) => {
    const emulator = await start({ dialect: 'specification', pageSize: 1 })
    const { base_url } = emulator.config(host)['environment'] as { readonly base_url: string }
    const { token } = await connect(emulator)
    const headers = { authorization: `Bearer ${token}`, 'user-agent': 'Tests/1 (Acme)' }
    const path = '/connector/svcapi/api/v1/work-locations'
    const answer = await fetch(base_url + path, { headers })
    const { value, nextLink } = (await answer.json()) as { value: object[]; nextLink: string }
    expect([value, nextLink.startsWith(`${base_url}${path}?`), base_url.includes(host)]).toEqual([
      emulator.all('work-locations').slice(0, 1),
      true,
      true,
    ])
  },
)
