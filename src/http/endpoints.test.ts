import { describe, expect, it } from 'vitest'
import { createEndpoints, scopeName } from './endpoints.ts'

function endpoints(overrides: { baseUrl?: string; company?: string } = {}) {
  return createEndpoints({
    baseUrl: 'https://acme.protime.test',
    authUrl: 'https://authentication.protime.test/tenants/acme',
    apiName: 'svcapi',
    company: undefined,
    version: '1.2.3',
    ...overrides,
  })
}

describe('the service', () => {
  // spec: Authentication 1
  // spec: Versioning 1
  it('has its parts where the specification says', () => {
    expect(endpoints()).toMatchObject({
      origin: 'https://acme.protime.test',
      mount: '',
      prefix: '/connector/svcapi/api/v1',
      tokenUrl: 'https://authentication.protime.test/tenants/acme/connect/token',
    })
  })

  it('may lie below a path of a proxy', () => {
    expect(endpoints({ baseUrl: 'https://proxy.test:8443/a/b/' })).toMatchObject({
      origin: 'https://proxy.test:8443',
      mount: '/a/b',
    })
  })

  // spec: Authentication 6
  it('names the scope of a collection after the API', () => {
    expect(scopeName(endpoints(), 'people.read')).toBe('connector-svcapi-people.read')
  })
})

describe('the user agent', () => {
  // spec: Service 7
  it.each([
    [undefined, 'source-protime/1.2.3'],
    ['', 'source-protime/1.2.3'],
    ['Acme NV', 'source-protime/1.2.3 (Acme NV)'],
    ['Ac(me)\r\nX-Evil: 1', 'source-protime/1.2.3 (AcmeX-Evil: 1)'],
    ['Zoë & Co', 'source-protime/1.2.3 (Zo & Co)'],
    ['日本', 'source-protime/1.2.3'],
  ])('of the company %j is a valid header', (company, expected) => {
    expect(endpoints(company === undefined ? {} : { company }).userAgent).toBe(expected)
  })
})
