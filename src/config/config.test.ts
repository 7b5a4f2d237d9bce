import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { readProjectJson } from '../ground/project-files.ts'
import { parseConfig } from './config.ts'
import { custom, faultsOf, LEAST, SECRET } from './testing/least-config.ts'

const spec = readProjectJson('#spec') as {
  readonly connectionSpecification: Node
  readonly supportsIncremental: boolean
}

/** The defaults of spec.json, by setting. */
const defaults = new Map(
  Object.entries(spec.connectionSpecification.properties ?? {}).map(([name, property]) => [
    name,
    (property as { readonly default?: unknown }).default,
  ]),
)

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
      concurrency: defaults.get('concurrency'),
      requestsPerMinute: undefined,
      windowDays: defaults.get('window_days'),
      futureDays: defaults.get('future_days'),
      historyRefreshDays: defaults.get('history_refresh_days'),
      auditDays: defaults.get('audit_days'),
      retention: [],
      maxMissing: { percent: 20 },
      approvedDeletes: [],
      requestTimeoutSeconds: defaults.get('request_timeout_seconds'),
      retryMinutes: defaults.get('retry_minutes'),
      suppressedPeople: [],
      maxRecordMb: defaults.get('max_record_mb'),
      emitsActivateVersions: true,
    })
  })

  it('may have one number of months for all streams', () => {
    expect(parseConfig({ ...LEAST, retain_months: 24 }).retention).toEqual([{ months: 24 }])
  })

  it('accepts every value that it is given', () => {
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
      retain_months: [{ stream: 'clockings', months: 24 }],
      max_missing: '100',
      approved_deletes: ['people:150:2026-11-23T04:00:01.307Z'],
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
      retention: [{ stream: 'clockings', months: 24 }],
      maxMissing: { count: 100 },
      approvedDeletes: [{ stream: 'people', most: 150, time: '2026-11-23T04:00:01.307Z' }],
      requestTimeoutSeconds: 5,
      retryMinutes: 0.5,
    })
  })

  it('has no default that spec.json does not show', () => {
    const taken = Object.values(parseConfig(LEAST)).filter((value) => typeof value === 'number')
    expect(taken.toSorted()).toEqual(
      [...defaults.values()].filter((value) => typeof value === 'number').toSorted(),
    )
  })

  it('may have settings of other tools', () => {
    expect(parseConfig({ ...LEAST, __injected: 1, _comment: 'x', other: {} })).toEqual(
      parseConfig(LEAST),
    )
  })

  it('is not modified', () => {
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

interface Node {
  readonly [keyword: string]: unknown
  readonly type?: string
  readonly title?: string
  readonly description?: string
  readonly order?: number
  readonly properties?: Readonly<Record<string, Node>>
  readonly required?: readonly string[]
  readonly oneOf?: readonly Node[]
  readonly items?: Node
}

const root = spec.connectionSpecification

/** Names by which the platform's test suites recognize a secret (DOCS, CAT and FAST). */
const SECRET_NAME =
  /^(client_token|access_token|api_token|token|secret|client_secret|password|key|service_account_info|service_account|tenant_id|certificate|jwt|credentials|app_id|appid|refresh_token)$|_(token|secret)$|(api|private|access|privacy)_key$/

/** Keywords that the platform's form and its test suites do not support. */
const FORBIDDEN = [
  ...['not', 'anyOf', 'allOf', 'if', 'then', 'else', '$ref', 'patternProperties', 'prefixItems'],
  ...['dependentSchemas', 'dependentRequired'],
]

/** Every schema below the root, with its path. */
function nodesOf(node: Node, path = ''): [string, Node][] {
  const below = [
    ...Object.entries(node.properties ?? {}).map(([key, child]): [string, Node] => [key, child]),
    ...(node.oneOf ?? []).map((child, index): [string, Node] => [`oneOf ${index}`, child]),
    ...(node.items === undefined ? [] : [['items', node.items] as [string, Node]]),
  ]
  return below.flatMap(([key, child]) => {
    const at = path === '' ? key : `${path}.${key}`
    return [[at, child] as [string, Node], ...nodesOf(child, at)]
  })
}

/** The fields of the form: the properties of every object. */
const nodes = nodesOf(root)
const everyNode: [string, Node][] = [['', root], ...nodes]
const objects = everyNode.filter(([, node]) => node.properties !== undefined)
const fields = objects.flatMap(([path, { properties = {} }]) =>
  Object.entries(properties).map(([name, node]): [string, string, Node] => [
    path === '' ? name : `${path}.${name}`,
    name,
    node,
  ]),
)

/** The paths of the fields that break a rule. */
function fieldsWhere(isWrong: (node: Node, name: string) => boolean): string[] {
  return fields.filter(([, name, node]) => isWrong(node, name)).map(([path]) => path)
}

describe('the specification of the configuration', () => {
  it('is a valid schema of draft 7', () => {
    const ajv = new Ajv({ strict: false })
    expect(ajv.validateSchema(root), ajv.errorsText()).toBe(true)
  })

  it('says that the connector supports incremental syncs', () => {
    expect(spec.supportsIncremental).toBe(true)
  })

  it('gives every field a title in words and a description', () => {
    expect(
      fieldsWhere(
        ({ title = '', description = '' }) => !/^[A-Z]/.test(title) || !/\w.*\.$/.test(description),
      ),
    ).toEqual([])
  })

  it('orders the fields of every object', () => {
    for (const [path, { properties = {} }] of objects) {
      const orders = Object.values(properties).map(({ order }) => order)
      const isNumbered = orders.every((order) => typeof order === 'number')
      expect([path, isNumbered, new Set(orders).size]).toEqual([path, true, orders.length])
    }
  })

  it('marks as a secret every field whose name says so, and no other', () => {
    const mayHold = ({ type }: Node) => type === 'string' || type === 'integer' || type === 'number'
    expect(
      fieldsWhere(
        (node, name) =>
          (node['airbyte_secret'] === true) !== (SECRET_NAME.test(name) && mayHold(node)),
      ),
    ).toEqual([])
  })

  it('is free of keywords that the form cannot show', () => {
    const found = everyNode.flatMap(([, node]) => FORBIDDEN.filter((keyword) => keyword in node))
    expect(found).toEqual([])
  })

  it('gives every value one type, every array one kind of item, every object its fields', () => {
    const wrong = nodes.filter(([, { type, items, properties, oneOf }]) => {
      if (typeof type !== 'string') return true
      if (type === 'array') return items === undefined || Array.isArray(items)
      return type === 'object' && properties === undefined && oneOf === undefined
    })
    expect(wrong.map(([path]) => path)).toEqual([])
  })

  it('never refuses an unknown key', () => {
    const stated = everyNode.flatMap(([, node]) => node['additionalProperties'] ?? [])
    expect(stated).toEqual(stated.map(() => true))
  })

  it('requires only fields that exist and have no default', () => {
    const wrong = objects.flatMap(([path, { required = [], properties = {} }]) =>
      required
        .filter((name) => properties[name] === undefined || 'default' in properties[name])
        .map((name) => `${path}.${name}`),
    )
    expect(wrong).toEqual([])
  })

  it('has defaults and examples that it accepts itself', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false })
    const wrong = nodes.filter(([, node]) => {
      const examples = (node['examples'] as unknown[] | undefined) ?? []
      const values = 'default' in node ? [node['default'], ...examples] : examples
      return values.some((value) => !ajv.validate(node, value))
    })
    expect(wrong.map(([path]) => path)).toEqual([])
  })

  it('shows the form of a value instead of a regular expression', () => {
    expect(fieldsWhere((node) => 'pattern' in node !== 'pattern_descriptor' in node)).toEqual([])
  })

  it('limits every number', () => {
    expect(
      fieldsWhere((node) => node.type === 'integer' && !('minimum' in node && 'maximum' in node)),
    ).toEqual([])
  })

  it('writes dates as the platform expects them', () => {
    const dates = fields.filter(([, , node]) => node['format'] === 'date')
    expect(dates.map(([path, , node]) => [path, node['pattern']])).toEqual([
      ['start_date', '^[0-9]{4}-[0-9]{2}-[0-9]{2}$'],
    ])
  })
})

describe('a choice between alternatives', () => {
  const choices = nodes.filter(([, node]) => node.oneOf !== undefined)

  it('is an object, shown as one, whose alternatives have fields', () => {
    const shapes = choices.map(([, { type, oneOf = [], ...node }]) => [
      type,
      node['display_type'],
      oneOf.every(({ properties }) => properties !== undefined),
    ])
    expect(shapes).toEqual(choices.map(() => ['object', 'dropdown', true]))
  })

  it('is made by one constant: the same field in each, with another value', () => {
    for (const [path, { oneOf = [] }] of choices) {
      const constants = oneOf.map(({ properties = {} }) =>
        Object.entries(properties).filter(([, node]) => 'const' in node),
      )
      const names = new Set(constants.flat().map(([name]) => name))
      const values = new Set(constants.flat().map(([, node]) => node['const']))
      expect([path, constants.map(({ length }) => length), names.size, values.size]).toEqual([
        path,
        oneOf.map(() => 1),
        1,
        oneOf.length,
      ])
    }
  })
})
