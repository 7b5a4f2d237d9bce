import { describe, expect, it } from 'vitest'
import { parseConfig } from './config.ts'
import { custom, faultsOf, LEAST } from './testing/least-config.ts'

describe('the environment', () => {
  // spec: Service 1
  // spec: Authentication 1
  it('sandbox has its own domain', () => {
    expect(parseConfig({ ...LEAST, environment: { type: 'sandbox' } })).toMatchObject({
      baseUrl: 'https://acme.myprotimesandbox.eu',
      authUrl: 'https://authentication.myprotimesandbox.eu/tenants/acme',
      apiName: 'protimeapi',
    })
  })

  // spec: Service 1
  it('custom may be a domain', () => {
    expect(parseConfig(custom({ environment_url: 'time.test:8443' }))).toMatchObject({
      baseUrl: 'https://acme.time.test:8443',
      authUrl: 'https://authentication.time.test:8443/tenants/acme',
      apiName: 'svcapi',
    })
  })

  it('custom may be two addresses without a domain', () => {
    const environment = { base_url: 'https://a.test/x/', auth_url: 'https://b.test/tenants/t//' }
    expect(parseConfig(custom(environment))).toMatchObject({
      baseUrl: 'https://a.test/x',
      authUrl: 'https://b.test/tenants/t',
    })
  })

  it('custom may override one address of a domain', () => {
    const environment = { environment_url: 'time.test', auth_url: 'https://b.test' }
    expect(parseConfig(custom(environment))).toMatchObject({
      baseUrl: 'https://acme.time.test',
      authUrl: 'https://b.test',
    })
  })

  it.each(['production', 'sandbox'])('%s has its own addresses, whatever else is given', (type) => {
    const environment = { type, base_url: 'https://other.test', auth_url: 'https://other.test/t' }
    const { baseUrl, authUrl } = parseConfig({ ...LEAST, environment })
    expect(`${baseUrl} ${authUrl}`).not.toContain('other.test')
  })

  it.each(['production', 'sandbox', 'custom'])('%s may name its API', (type) => {
    const environment = { type, environment_url: 'time.test', api_name: 'other' }
    expect(parseConfig({ ...LEAST, environment }).apiName).toBe('other')
  })

  it.each([
    'http://127.0.0.1:8080',
    'http://localhost:8080',
    'http://[::1]:8080',
    'http://127.9.9.9',
  ])('may be reached without TLS on this machine (%s)', (url) => {
    expect(parseConfig(custom({ base_url: url, auth_url: url })).baseUrl).toBe(url)
  })

  it.each([
    'http://time.test',
    'http://127.0.0.1.time.test',
    'http://localhost.time.test',
    'http://10.0.0.1',
    'https://user@time.test',
    'https://user:word@time.test',
  ])('must be reached by TLS, and without a user name, elsewhere (%s)', (url) => {
    expect([
      faultsOf(custom({ base_url: url, auth_url: 'https://b.test' })),
      faultsOf(custom({ base_url: 'https://a.test', auth_url: url })),
    ]).toEqual([
      expect.stringMatching(/^environment\.base_url must be an https address.*loopback only\.$/),
      expect.stringMatching(/^environment\.auth_url must be an https address.*loopback only\.$/),
    ])
  })
})
