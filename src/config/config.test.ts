import { describe, expect, it } from 'vitest'
import { readProjectJson } from '../ground/project-files.ts'
import { parseConfig } from './config.ts'
import { custom, faultsOf, LEAST, SECRET } from './testing/least-config.ts'

describe('a configuration', () => {
  it('needs only four values; the rest are the defaults of spec.json', () => {
    expect(parseConfig(LEAST)).toEqual({
      tenant: 'acme',
      environment: 'myprotime.eu',
      baseUrl: 'https://acme.myprotime.eu',
      authUrl: 'https://authentication.myprotime.eu/tenants/acme',
      apiName: 'protimeapi',
      clientId: 'my-id',
      clientSecret: SECRET,
      startDate: undefined,
      company: undefined,
      externalReferences: [],
      activityStructures: [],
      privacy: { mode: 'without_secrets', pseudonyms: undefined, rules: [], unknownFields: 'keep' },
      hidesServiceWords: false,
      concurrency: 4,
      requestsPerMinute: undefined,
      windowDays: 365,
      futureDays: 730,
      historyRefreshDays: 7,
      auditDays: 0,
      requestTimeoutSeconds: 120,
      retryMinutes: 10,
      maxRecordMb: 16,
      emitsActivateVersions: true,
    })
  })

  it('takes every value that it is given', () => {
    const config = parseConfig({
      ...LEAST,
      start_date: '2024-02-29',
      company: 'Acme NV',
      external_references: [{ collection: 'people', names: ['@badge-number'] }],
      activity_structures: [{ structure_version_id: 'a-b', level: 2 }],
      concurrency: 8,
      requests_per_minute: 600,
      window_days: 30,
      future_days: 0,
      history_refresh_days: 0,
      audit_days: 30,
      request_timeout_seconds: 5,
      retry_minutes: 0.5,
      max_record_mb: 32,
    })
    expect(config).toMatchObject({
      startDate: '2024-02-29',
      company: 'Acme NV',
      externalReferences: [{ collection: 'people', names: ['@badge-number'] }],
      activityStructures: [{ structure_version_id: 'a-b', level: 2 }],
      concurrency: 8,
      requestsPerMinute: 600,
      windowDays: 30,
      futureDays: 0,
      historyRefreshDays: 0,
      auditDays: 30,
      requestTimeoutSeconds: 5,
      retryMinutes: 0.5,
    })
  })

  it('has no default that spec.json does not show', () => {
    const spec = readProjectJson('#spec') as {
      connectionSpecification: { properties: Record<string, { type: string; default?: unknown }> }
    }
    const shown = Object.values(spec.connectionSpecification.properties).flatMap((property) =>
      typeof property.default === 'number' ? [property.default] : [],
    )
    const taken = Object.values(parseConfig(LEAST)).filter((value) => typeof value === 'number')
    expect(taken.toSorted()).toEqual(shown.toSorted())
  })

  it('may have keys of other tools', () => {
    expect(parseConfig({ ...LEAST, __injected: 1, _comment: 'x', other: {} })).toEqual(
      parseConfig(LEAST),
    )
  })

  it('is left as it was given', () => {
    const input = structuredClone(LEAST)
    parseConfig(input)
    expect(input).toEqual(LEAST)
  })
})

const startOf = (start_date: string) =>
  parseConfig({
    tenant: 'acme',
    environment: { type: 'production' },
    client_id: 'i',
    client_secret: 's',
    start_date,
  }).startDate

describe('the start date', () => {
  it.each(['2026-01-02T00:00:00Z', '2026-01-02T00:00:00', '2026-01-02T23:59:59.5+01:00'])(
    'may have a time, as runners write it: %s',
    (text) => {
      expect(startOf(text)).toBe('2026-01-02')
    },
  )

  it.each(['2026-01-02Z', '2026-01-02T', '2026-01-02T10:00 o’clock'])(
    'has nothing else behind the day: %s',
    (text) => {
      expect(() => startOf(text)).toThrow('start_date must have the form: YYYY-MM-DD')
    },
  )
})

describe('the environment', () => {
  // spec: Service 1
  // spec: Authentication 1
  it('sandbox has its own domain', () => {
    expect(parseConfig({ ...LEAST, environment: { type: 'sandbox' } })).toMatchObject({
      environment: 'myprotimesandbox.eu',
      baseUrl: 'https://acme.myprotimesandbox.eu',
      authUrl: 'https://authentication.myprotimesandbox.eu/tenants/acme',
      apiName: 'protimeapi',
    })
  })

  // spec: Service 1
  it('custom may be a domain', () => {
    expect(parseConfig(custom({ environment_url: 'time.test:8443' }))).toMatchObject({
      environment: 'time.test:8443',
      baseUrl: 'https://acme.time.test:8443',
      authUrl: 'https://authentication.time.test:8443/tenants/acme',
      apiName: 'svcapi',
    })
  })

  it('custom may be two addresses without a domain', () => {
    const environment = { base_url: 'https://a.test/x/', auth_url: 'https://b.test/tenants/acme//' }
    expect(parseConfig(custom(environment))).toMatchObject({
      environment: 'custom',
      baseUrl: 'https://a.test/x',
      authUrl: 'https://b.test/tenants/acme',
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
