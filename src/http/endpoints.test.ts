import { describe, expect, it } from 'vitest'
import {
  createCircleCheck,
  createEndpoints,
  dateRange,
  type Query,
  requestUrl,
  resolveLink,
  scopeName,
  withoutQuery,
} from './endpoints.ts'

const ORIGIN = 'https://acme.protime.test'
const PREFIX = '/connector/svcapi/api/v1'

function endpoints(baseUrl = ORIGIN) {
  return createEndpoints({
    baseUrl,
    authUrl: 'https://authentication.protime.test/tenants/acme',
    apiName: 'svcapi',
    company: undefined,
    version: '1.0.0',
  })
}

describe('a link of the service', () => {
  // spec: Delta mode 4
  // spec: Filtering: encoding
  it.each([
    ['relative', `${PREFIX}/people`, `${PREFIX}/people`],
    ['absolute on the same origin', `${ORIGIN}${PREFIX}/people`, `${PREFIX}/people`],
    ['with the default port', `${ORIGIN}:443${PREFIX}/people`, `${PREFIX}/people`],
    ['with the host in capitals', `HTTPS://ACME.Protime.Test${PREFIX}/people`, `${PREFIX}/people`],
    [
      'protocol-relative to the same host',
      `//acme.protime.test${PREFIX}/people`,
      `${PREFIX}/people`,
    ],
    ['with space around it', ` ${PREFIX}/people\n`, `${PREFIX}/people`],
    [
      'with raw spaces and quotes',
      `${PREFIX}/clockings?filter=date ge '2026-01-01'&deltaToken=a+b/c==`,
      `${PREFIX}/clockings?filter=date%20ge%20%272026-01-01%27&deltaToken=a+b/c==`,
    ],
    [
      'already encoded, in either case of the digits',
      `${PREFIX}/clockings?filter=date%20ge%20%272026-01-01%27&continuationToken=%2b%2F%3D`,
      `${PREFIX}/clockings?filter=date%20ge%20%272026-01-01%27&continuationToken=%2b%2F%3D`,
    ],
    [
      'with characters that no URL holds',
      `${PREFIX}/people?a="<>\\^\`{|}#b`,
      `${PREFIX}/people?a=%22%3C%3E%5C%5E%60%7B%7C%7D%23b`,
    ],
    [
      'with other letters than English ones',
      `${PREFIX}/people?name=Zoë 😀`,
      `${PREFIX}/people?name=Zo%C3%AB%20%F0%9F%98%80`,
    ],
    [
      'with line breaks and tabs in it, which a URL parser would drop',
      `${PREFIX}/people?a=1\t2\n3`,
      `${PREFIX}/people?a=1%092%0A3`,
    ],
    [
      'with every character that a query may hold',
      `${PREFIX}/people?a=Az09-._~!$&()*+,;=:@/?%41`,
      new URL(`${ORIGIN}${PREFIX}/people?a=Az09-._~!$&()*+,;=:@/?%41`).href.slice(ORIGIN.length),
    ],
    ['whose dot segments stay below the prefix', `${PREFIX}/a/../people`, `${PREFIX}/people`],
    ['with dots inside a name', `${PREFIX}/people?x=..%2f`, `${PREFIX}/people?x=..%2f`],
    [
      'with slashes in the name of a reference',
      `${PREFIX}/external-references/people/a%2Fb%5Cc..d?continuationToken=1`,
      `${PREFIX}/external-references/people/a%2Fb%5Cc..d?continuationToken=1`,
    ],
  ])('is followed when it is %s', (_, link, expected) => {
    expect(resolveLink(link, endpoints())).toBe(ORIGIN + expected)
  })

  // spec: Authentication 2
  it.each([
    ['another host', `https://evil.test${PREFIX}/people`],
    ['another host, protocol-relative', `//evil.test${PREFIX}/people`],
    ['another scheme', `http://acme.protime.test${PREFIX}/people`],
    ['another port', `${ORIGIN}:444${PREFIX}/people`],
    ['a host that begins like ours', `${ORIGIN}.evil.test${PREFIX}/people`],
    ['a host after user info that looks like ours', `${ORIGIN}@evil.test${PREFIX}/people`],
    ['a user name', `https://user@acme.protime.test${PREFIX}/people`],
    ['a password', `https://:pass@acme.protime.test${PREFIX}/people`],
    ['a file', `file://${PREFIX}/people`],
    ['a script', 'javascript:alert(1)'],
    ['inline data', 'data:application/json,{}'],
  ])('is refused when it leads to %s', (_, link) => {
    expect(() => resolveLink(link, endpoints())).toThrow(/leads to another host.*not followed/)
  })

  it.each([
    ['another path', '/other/people'],
    ['a path that only begins like the prefix', `${PREFIX}2/people`],
    ['the prefix in other letters', `${PREFIX.toUpperCase()}/people`],
    ['another API', '/connector/protimeapi/api/v1/people'],
    ['the prefix itself', PREFIX],
    ['dot segments', `${PREFIX}/../../../../other`],
    ['encoded dot segments', `${PREFIX}/%2e%2E/%2e./.%2e/other`],
    ['dot segments in disguise', `${PREFIX}/people/%2e%2e%2fother`],
    ['an encoded slash', `${PREFIX}/people%2F..%2Fother`],
    ['an encoded backslash', `${PREFIX}/people%5c..%5cother`],
    ['a raw backslash', `${PREFIX}/people\\..\\other`],
    ['backslashes for slashes', `\\\\evil.test${PREFIX}/people`],
    ['a slash and a backslash', `/\\evil.test${PREFIX}/people`],
    ['a bare name', 'people'],
    ['nothing', ''],
    ['dot segments with a parameter', `${PREFIX}/people/..;/..;/other`],
    ['dot segments with an encoded parameter', `${PREFIX}/people/..%3bx=1/other`],
    ['dot segments that are encoded twice', `${PREFIX}/people/%252e%252e/other`],
    ['a dot segment behind a slash that is encoded twice', `${PREFIX}/people%252f..%252fother`],
    ['dot segments that are encoded three times', `${PREFIX}/people/%25252e%25252E/other`],
    ['dot segments that are encoded with too many bytes', `${PREFIX}/people/%c0%ae%c0%ae/other`],
    ['dot segments in the notation of another century', `${PREFIX}/people/%u002e%u002e/other`],
  ])('is refused when it leaves the API by %s', (_, link) => {
    expect(() => resolveLink(link, endpoints())).toThrow(/leaves the API.*not followed/)
  })

  it.each([
    ['its own path', `${PREFIX}/people?continuationToken=1`],
    ['its own path in another case, and with a slash', `${PREFIX}/People/?continuationToken=1`],
    ['its own path, encoded', `${PREFIX}/p%65ople`],
    ['its own path at the same host', `${ORIGIN}${PREFIX}/people?x=/departments`],
    ['the changes of its collection', `${PREFIX}/delta/people?deltaToken=1`],
    ['changes below its collection', `${PREFIX}/people/delta?deltaToken=1`],
  ])('that is to stay in a collection may lead to %s', (_, link) => {
    const of = `${PREFIX}/people?filter=a`
    expect(resolveLink(link, endpoints(), { of })).toBe(
      link.startsWith(ORIGIN) ? link : `${ORIGIN}${link}`,
    )
  })

  it.each([
    ['another collection', `${PREFIX}/departments?continuationToken=1`],
    ['the changes of another one', `${PREFIX}/delta/departments?deltaToken=1`],
    ['a collection that begins alike', `${PREFIX}/people-groups`],
    ['a collection below', `${PREFIX}/people/references`],
    ['one of its records', `${PREFIX}/people/7`],
    ['what an encoded slash makes of it', `${PREFIX}/people%2Freferences`],
    ['a parameter of its path', `${PREFIX}/people;x=1`],
    ['all collections', `${PREFIX}/`],
  ])('that is to stay in a collection may not lead to %s', (_, link) => {
    const of = `${PREFIX}/people?filter=a`
    expect(() => resolveLink(link, endpoints(), { of })).toThrow(
      /leads from people to another collection.*not followed/,
    )
  })

  it.each([
    ['is no address', 'https://[x'],
    ['holds an unpaired surrogate', `${PREFIX}/people?a=\ud83d`],
  ])('is refused when it %s', (_, link) => {
    expect(() => resolveLink(link, endpoints())).toThrow(/is not an address.*not followed/)
  })

  // spec: Limits: URL length
  it('may have 4096 characters', () => {
    const link = `${PREFIX}/people?a=`.padEnd(4096 - ORIGIN.length, 'x')
    expect(resolveLink(link, endpoints())).toHaveLength(4096)
  })

  // spec: Filtering: URL length
  // spec: Errors: 414
  // spec: Limits: URL length
  it('is a config error above 4096 characters after encoding', () => {
    const link = `${PREFIX}/people?a=`.padEnd(4095 - ORIGIN.length, 'x')
    expect(() => resolveLink(`${link}'`, endpoints())).toThrow(
      expect.objectContaining({
        failure: 'config',
        message: expect.stringMatching(/4098 characters.*4096.*fewer external references/),
      }),
    )
  })
})

describe('a service behind a proxy with a path', () => {
  const proxied = endpoints('https://proxy.test/protime/')

  it.each([
    ['with the path', `/protime${PREFIX}/people?delta`],
    ['without the path, as the service sends them', `${PREFIX}/people?delta`],
  ])('takes links %s', (_, link) => {
    expect(resolveLink(link, proxied)).toBe(`https://proxy.test/protime${PREFIX}/people?delta`)
  })

  it.each([`/protime${PREFIX}/people?a`, `${PREFIX}/people?a`])(
    'knows the collection of %s',
    (link) => {
      const of = `${PREFIX}/people`
      expect(resolveLink(link, proxied, { of })).toBe(
        `https://proxy.test/protime${PREFIX}/people?a`,
      )
      const other = link.replace('people', 'jobs')
      expect(() => resolveLink(other, proxied, { of })).toThrow(/another collection/)
    },
  )

  it('refuses links to another path of the proxy', () => {
    expect(() => resolveLink(`/other${PREFIX}/people`, proxied)).toThrow(/leaves the API/)
  })
})

describe('the part of a URL that is logged', () => {
  it.each([
    [`${ORIGIN}/a?deltaToken=t`, `${ORIGIN}/a`],
    [`${ORIGIN}/a#t`, `${ORIGIN}/a`],
    [`${ORIGIN}/a`, `${ORIGIN}/a`],
  ])('of %s ends before its query', (url, expected) => {
    expect(withoutQuery(url)).toBe(expected)
  })
})

/** The number of links after which a chain is noticed that enters a cycle after some links. */
function noticedAfter(before: number, length: number): number {
  const isCircle = createCircleCheck('0')
  for (let i = 1; ; i++) {
    if (isCircle(String(i < before ? i : before + ((i - before) % length)))) return i
  }
}

it('a link to its own page is found at once, however late it comes', () => {
  expect([noticedAfter(0, 1), noticedAfter(1, 1), noticedAfter(1000, 1)]).toEqual([1, 2, 1001])
})

it.each([
  [0, 2],
  [0, 3],
  [5, 7],
  [1000, 2],
  [3, 1000],
])('a circle behind %d links, of %d, is noticed after a few rounds', (before, length) => {
  expect(noticedAfter(before, length)).toBeLessThanOrEqual(3 * (before + length))
})

it('a chain without a cycle continues', () => {
  const isCircle = createCircleCheck('0')
  const noticed = Array.from({ length: 100_000 }, (_, i) => isCircle(String(i + 1)))
  expect(noticed).not.toContain(true)
})

describe('the endpoints', () => {
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

    it('may be below a path of a proxy', () => {
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
    [
      'of a list with nothing to ask for',
      { path: '/people', filter: [], references: [] },
      '/people',
    ],
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

  it('the first link is requested unchanged', () => {
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
})
