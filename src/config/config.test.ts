import { describe, expect, it } from 'vitest'
import { readProjectJson } from '../project-files.ts'
import { ConnectorError } from '../protocol/errors.ts'
import { parseConfig } from './config.ts'

type Json = Readonly<Record<string, unknown>>

const SECRET = 'never-show-this'

/** The least that a configuration must say. */
const LEAST = {
  tenant: 'acme',
  environment: { type: 'production' },
  client_id: 'my-id',
  client_secret: SECRET,
}

function custom(environment: Json): Json {
  return { ...LEAST, environment: { type: 'custom', ...environment } }
}

/** The sentences about what is wrong. */
function faultsOf(input: unknown): string {
  try {
    parseConfig(input)
  } catch (error) {
    if (error instanceof ConnectorError && error.failure === 'config') {
      return error.message.replace(/^The configuration is not valid\. /, '')
    }
    throw error
  }
  throw new Error('it is valid')
}

describe('a configuration', () => {
  it('needs only four values; the rest are the defaults of spec.json', () => {
    expect(parseConfig(LEAST)).toEqual({
      tenant: 'acme',
      baseUrl: 'https://acme.myprotime.eu',
      authUrl: 'https://authentication.myprotime.eu/tenants/acme',
      apiName: 'protimeapi',
      clientId: 'my-id',
      clientSecret: SECRET,
      startDate: undefined,
      company: undefined,
      externalReferences: [],
      activityStructures: [],
      privacy: { mode: 'without_secrets', key: undefined, rules: [], unknownFields: 'keep' },
      concurrency: 4,
      requestsPerMinute: undefined,
      windowDays: 365,
      futureDays: 730,
      historyRefreshDays: 7,
      requestTimeoutSeconds: 120,
      retryMinutes: 10,
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
      request_timeout_seconds: 5,
      retry_minutes: 0.5,
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

describe('a fault', () => {
  const named = (key: string, value: unknown): Json => ({ ...LEAST, [key]: value })

  it.each<[string, unknown, string]>([
    ['no object', 'x', 'It must be an object; it is a text.'],
    ['null', null, 'It must be an object; it is null.'],
    ['a list', [], 'It must be an object; it is a list.'],
    ['a tenant of another type', named('tenant', 5), 'tenant must be a text; it is 5.'],
    [
      'an address as tenant',
      named('tenant', 'acme.eu'),
      'tenant must have the form: letters, digits and hyphens.',
    ],
    ['an empty secret', named('client_secret', ''), 'client_secret is empty.'],
    ['no environment', named('environment', null), 'environment must be an object; it is null.'],
    ['an environment without a type', named('environment', {}), 'environment.type is missing.'],
    [
      'an unknown environment',
      named('environment', { type: 'test' }),
      'environment.type must be one of production, sandbox, custom.',
    ],
    [
      'an environment that is mistyped',
      named('environment', { type: 'producton' }),
      'environment.type must be one of production, sandbox, custom; did you mean production?',
    ],
    [
      'an address as domain',
      custom({ environment_url: 'https://time.test' }),
      'environment.environment_url must have the form: a domain name without https://.',
    ],
    [
      'a domain with a port that does not exist',
      custom({ environment_url: 'time.test:99999' }),
      'environment.environment_url is not the domain of an address.',
    ],
    [
      'no domain and one address',
      custom({ base_url: 'https://a.test' }),
      'environment.environment_url is missing: give it, or both environment.base_url and environment.auth_url.',
    ],
    [
      'an address without https',
      custom({ base_url: 'a.test', auth_url: 'https://b.test' }),
      'environment.base_url must have the form: https://host[:port].',
    ],
    [
      'an address that is none',
      custom({ base_url: 'https://a.test:99999', auth_url: 'https://b.test' }),
      'environment.base_url is not an address.',
    ],
    [
      'a date of another form',
      named('start_date', '1-1-2025'),
      'start_date must have the form: YYYY-MM-DD; it is "1-1-2025".',
    ],
    [
      'a day that no calendar has',
      named('start_date', '2025-02-29'),
      'start_date is not a day of the calendar: 2025-02-29.',
    ],
    [
      'a month that no calendar has',
      named('start_date', '2025-13-01'),
      'start_date is not a day of the calendar: 2025-13-01.',
    ],
    [
      'a day before any record',
      named('start_date', '0001-01-01'),
      'start_date must be 1970-01-01 or later; it is 0001-01-01.',
    ],
    [
      'a number below its bound',
      named('concurrency', 0),
      'concurrency must be a number from 1 to 32; it is 0.',
    ],
    [
      'a number above its bound',
      named('window_days', 366),
      'window_days must be a number from 1 to 365; it is 366.',
    ],
    [
      'a fraction',
      named('future_days', 1.5),
      'future_days must be a whole number from 0 to 3650; it is 1.5.',
    ],
    [
      'a number as text',
      named('requests_per_minute', '60'),
      'requests_per_minute must be a number from 1 to 100000; it is the text "60".',
    ],
    [
      'a reference without names',
      named('external_references', [{ collection: 'people', names: [] }]),
      'external_references.0.names is empty.',
    ],
    [
      'a switch as text',
      named('emit_activate_version_messages', 'no'),
      'emit_activate_version_messages must be true or false; it is the text "no".',
    ],
    [
      'a company of many words',
      named('company', 'x'.repeat(101)),
      'company is longer than 100 characters.',
    ],
    [
      'references of a collection that is mistyped',
      named('external_references', [{ collection: 'peple', names: ['x'] }]),
      'external_references.0.collection is peple, which is no collection with references; did you mean people?',
    ],
    [
      'references of a collection without them',
      named('external_references', [{ collection: 'clockings', names: ['x'] }]),
      expect.stringMatching(
        /clockings, which is no .* choose one of absence-definitions, .*people/,
      ),
    ],
    [
      'a structure without a level',
      named('activity_structures', [{ structure_version_id: 'a' }]),
      'activity_structures.0.level is missing.',
    ],
  ])('is told in one sentence: %s', (_, input, sentence) => {
    expect(faultsOf(input)).toEqual(sentence)
  })

  it('does not hide another', () => {
    expect(faultsOf({ environment: { type: 'production' }, concurrency: 0 })).toBe(
      'tenant is missing. client_id is missing. client_secret is missing. concurrency must be a number from 1 to 32; it is 0.',
    )
  })

  it.each([
    { ...LEAST, client_secret: { nested: SECRET } },
    { ...LEAST, client_secret: [SECRET] },
    { ...LEAST, client_secret: 123456 },
    { ...LEAST, tenant: `${SECRET}!` },
    { ...LEAST, start_date: SECRET },
    { ...LEAST, environment: { type: SECRET } },
    { ...LEAST, environment: SECRET },
    custom({ base_url: `https://u:${SECRET}@a.test`, auth_url: 'https://b.test' }),
    custom({ base_url: `ftp://${SECRET}`, auth_url: 'https://b.test' }),
  ])('never repeats a value (%#)', (input) => {
    expect(faultsOf(input)).not.toMatch(/never-show-this|123456/)
  })
})
