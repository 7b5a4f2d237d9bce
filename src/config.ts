import { Ajv, type ErrorObject } from 'ajv'
import { ConnectorError } from './errors.ts'
import { readProjectJson } from './project-files.ts'

/** References to ask for: names of one collection (specification, "External references"). */
export interface ReferenceChoice {
  readonly collection: string
  readonly names: readonly string[]
}

/** One level of one version of an activity structure (api.md section 10). */
export interface ActivityStructure {
  readonly structure_version_id: string
  readonly level: number
}

/** The configuration, complete: every default of spec.json is filled in. */
export interface Config {
  readonly tenant: string
  /** Address of the tenant's host, without a slash at the end. */
  readonly baseUrl: string
  /** Address of the token service, `/connect/token` is below it. */
  readonly authUrl: string
  readonly apiName: string
  readonly clientId: string
  readonly clientSecret: string
  /** YYYY-MM-DD; undefined means that it follows the service's own bound, 1 January of last year. */
  readonly startDate: string | undefined
  readonly company: string | undefined
  readonly externalReferences: readonly ReferenceChoice[]
  readonly activityStructures: readonly ActivityStructure[]
  readonly concurrency: number
  readonly requestsPerMinute: number | undefined
  readonly windowDays: number
  readonly futureDays: number
  readonly historyRefreshDays: number
  readonly requestTimeoutSeconds: number
  readonly retryMinutes: number
  /** Singer only: whether a complete reading ends with ACTIVATE_VERSION. */
  readonly emitsActivateVersions: boolean
}

interface Schema {
  readonly [keyword: string]: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly oneOf?: readonly Schema[]
}

type Json = Record<string, unknown>

/** Domains of the vendor's environments (api.md section 1). */
const DOMAINS = { production: 'myprotime.eu', sandbox: 'myprotimesandbox.eu' } as const

/** spec.json as a whole: what the command `spec` answers. */
function readSpec(): Json {
  return readProjectJson('#spec') as Json
}

/**
 * Turns unknown JSON into a complete configuration, once: validates it against spec.json, applies
 * its defaults, and derives the addresses. Throws a config error with one sentence a fault and
 * without any value of the input.
 */
export function parseConfig(input: unknown): Config {
  const schema = (readSpec() as { connectionSpecification: Schema }).connectionSpecification
  const config = structuredClone(input) as Json
  const faults = validate(config, withChosenEnvironment(schema, config))
  if (faults.length > 0)
    throw new ConnectorError('config', `The configuration is not valid. ${faults.join(' ')}`)
  const environment = config['environment'] as Json
  return {
    tenant: config['tenant'] as string,
    ...addresses(config['tenant'] as string, environment),
    apiName: environment['api_name'] as string,
    clientId: config['client_id'] as string,
    clientSecret: config['client_secret'] as string,
    startDate: startDate(config['start_date'] as string | undefined),
    company: config['company'] as string | undefined,
    externalReferences: config['external_references'] as ReferenceChoice[],
    activityStructures: config['activity_structures'] as ActivityStructure[],
    concurrency: config['concurrency'] as number,
    requestsPerMinute: config['requests_per_minute'] as number | undefined,
    windowDays: config['window_days'] as number,
    futureDays: config['future_days'] as number,
    historyRefreshDays: config['history_refresh_days'] as number,
    requestTimeoutSeconds: config['request_timeout_seconds'] as number,
    retryMinutes: config['retry_minutes'] as number,
    emitsActivateVersions: config['emit_activate_version_messages'] as boolean,
  }
}

/** The values of the input that must never be printed, also when the input is not valid. */
export function secretsOf(input: unknown): string[] {
  const schema = (readSpec() as { connectionSpecification: Schema }).connectionSpecification
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(schema.properties ?? {})
    .filter(([, property]) => property['airbyte_secret'] === true)
    .map(([name]) => (input as Json)[name])
    .filter((value): value is string => typeof value === 'string' && value !== '')
}

/**
 * Replaces the alternatives of `environment` by the one that the input names, so that a fault is
 * reported once, against the alternative that was meant, and its defaults are applied.
 */
function withChosenEnvironment(schema: Schema, config: Json): Schema {
  const environment = schema.properties?.['environment']
  const options = environment?.oneOf ?? []
  const type = typeOf(config)
  const chosen = options.find((option) => option.properties?.['type']?.['const'] === type)
  const types = options.map((option) => option.properties?.['type']?.['const'])
  return {
    ...schema,
    properties: {
      ...schema.properties,
      environment: chosen ?? {
        type: 'object',
        required: ['type'],
        properties: { type: { enum: types } },
      },
    },
  }
}

function typeOf(config: unknown): unknown {
  const environment = (config as Json | null)?.['environment']
  return typeof environment === 'object' ? (environment as Json | null)?.['type'] : undefined
}

function validate(config: unknown, schema: Schema): string[] {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    strict: false,
    validateFormats: false,
    // The schema is ours, is tested, and is used once: checking and optimising it would take longer.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  })
  const check = ajv.compile(schema)
  return check(config) ? [] : (check.errors ?? []).map(sentence)
}

/** One fault in words: where, and what is expected. The value itself may be a secret and stays out. */
function sentence({ instancePath, keyword, params, parentSchema, message }: ErrorObject): string {
  const at = instancePath.slice(1).replaceAll('/', '.')
  if (keyword === 'required') {
    return `"${at === '' ? '' : `${at}.`}${params['missingProperty']}" is missing.`
  }
  const subject = at === '' ? 'It' : `"${at}"`
  if (keyword === 'pattern') {
    const form = (parentSchema as Json | undefined)?.['pattern_descriptor'] ?? params['pattern']
    return `${subject} must have the form: ${form}.`
  }
  if (keyword === 'enum') return `${subject} must be one of ${params['allowedValues'].join(', ')}.`
  return `${subject} ${message ?? 'is not valid'}.`
}

function addresses(tenant: string, environment: Json): { baseUrl: string; authUrl: string } {
  const type = environment['type'] as 'production' | 'sandbox' | 'custom'
  const domain = type === 'custom' ? environment['environment_url'] : DOMAINS[type]
  // Only the custom environment has overrides; elsewhere the names are unknown keys.
  const { base_url, auth_url } = type === 'custom' ? environment : {}
  const base = base_url ?? (domain && `https://${tenant}.${domain}`)
  const auth = auth_url ?? (domain && `https://authentication.${domain}/tenants/${tenant}`)
  if (typeof domain === 'string' && !URL.canParse(`https://${tenant}.${domain}`)) {
    throw new ConnectorError(
      'config',
      'The configuration is not valid. "environment.environment_url" is not the domain of an address.',
    )
  }
  if (typeof base !== 'string' || typeof auth !== 'string') {
    throw new ConnectorError(
      'config',
      'The configuration is not valid. "environment.environment_url" is missing: give it, or both "environment.base_url" and "environment.auth_url".',
    )
  }
  return { baseUrl: address('base_url', base), authUrl: address('auth_url', auth) }
}

function address(name: string, text: string): string {
  if (!URL.canParse(text)) {
    throw new ConnectorError(
      'config',
      `The configuration is not valid. "environment.${name}" is not an address.`,
    )
  }
  const url = new URL(text)
  const bare = url.username === '' && url.password === ''
  if (!bare || (url.protocol !== 'https:' && !isLoopback(url.hostname))) {
    throw new ConnectorError(
      'config',
      `The configuration is not valid. "environment.${name}" must be an https address without user name and password; plain http is accepted for loopback only.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
}

function startDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) {
    throw new ConnectorError(
      'config',
      'The configuration is not valid. "start_date" is not a day of the calendar.',
    )
  }
  return text
}
