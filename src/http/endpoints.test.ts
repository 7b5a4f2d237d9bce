import { describe, expect, it } from 'vitest'
import { createEndpoints, dateRange, type Query, requestUrl, scopeName } from './endpoints.ts'
import { resolveLink } from './links.ts'

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

const PREFIX = '/connector/protimeapi/api/v1'
const urlEndpoints = createEndpoints({
  baseUrl: 'https://acme.protime.test',
  authUrl: 'https://authentication.protime.test/tenants/acme',
  apiName: 'protimeapi',
  company: undefined,
  version: '1.0.0',
})

// spec: Addressing: parameter
// spec: Delta mode 1
// spec: Filtering: encoding
// spec: Errors: 400 external reference specification
it.each<[string, Query, string]>([
  ['of a list', { path: '/people' }, '/people'],
  ['of a list with nothing to ask for', { path: '/people', filter: [], references: [] }, '/people'],
  ['of a delta', { path: '/people', delta: true }, '/people?delta'],
  [
    'of a filtered delta',
    { path: '/clockings', filter: dateRange('2026-01-01'), delta: true },
    '/clockings?filter=date%20ge%20%272026-01-01%27&delta',
  ],
  [
    'of a list of days',
    { path: '/clockings', filter: dateRange('2026-01-01', '2026-12-31') },
    '/clockings?filter=date%20ge%20%272026-01-01%27%20and%20date%20le%20%272026-12-31%27',
  ],
  [
    'with references, one pair beside the other',
    {
      path: '/clockings',
      references: [
        ['people', '@badge-number'],
        ['terminals', 'my site (north) & more'],
      ],
    },
    '/clockings?externalReferences=(people,%40badge-number)(terminals,my%20site%20%28north%29%20%26%20more)',
  ],
])('the first link %s is encoded as the service sends its own', (_, query, expected) => {
  expect(requestUrl(query, urlEndpoints)).toBe(PREFIX + expected)
})

it('the first link is requested as it is', () => {
  const link = requestUrl(
    {
      path: '/clockings',
      filter: dateRange('2026-01-01', '2026-02-01'),
      references: [['people', "it's 100% ü"]],
    },
    urlEndpoints,
  )
  expect(resolveLink(link, urlEndpoints)).toBe(`https://acme.protime.test${link}`)
})
