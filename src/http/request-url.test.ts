import { expect, it } from 'vitest'
import { createEndpoints } from './endpoints.ts'
import { resolveLink } from './links.ts'
import { dateRange, type Query, requestUrl } from './request-url.ts'

const PREFIX = '/connector/protimeapi/api/v1'
const endpoints = createEndpoints({
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
  expect(requestUrl(query, endpoints)).toBe(PREFIX + expected)
})

it('the first link is requested as it is', () => {
  const link = requestUrl(
    {
      path: '/clockings',
      filter: dateRange('2026-01-01', '2026-02-01'),
      references: [['people', "it's 100% ü"]],
    },
    endpoints,
  )
  expect(resolveLink(link, endpoints)).toBe(`https://acme.protime.test${link}`)
})
