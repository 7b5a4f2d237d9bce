import { type Limit, limitOf } from '../ground/limit.ts'
import { isLoopback } from '../ground/loopback.ts'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import { nearest } from '../ground/text.ts'
import { personCodes } from '../privacy/person-codes.ts'
import {
  keepsNames,
  leftOutReferences,
  type PrivacyMode,
  type PrivacySettings,
  parsePrivacySettings,
  ruleFaults,
} from '../privacy/privacy-settings.ts'
import { referencedCollections } from '../streams/collections.ts'
import {
  applyDefaults,
  configWarnings,
  mistypedPrivacy,
  notValid,
  referencesWithoutRecords,
  unknownSettings,
} from './config-faults.ts'

/** The first day that the service and the connector are sure to treat alike. */
const EARLIEST = '1970-01-01'

/** A timestamp: other taps start at one, and Meltano turns `yesterday` into one. */
const POINT_IN_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?$/

/** The date of a timestamp; any other text is returned unchanged. */
function withoutTime(text: string): string {
  return POINT_IN_TIME.exec(text)?.[1] ?? text
}

/** Checks a text of the form YYYY-MM-DD. Throws a config error unless it is a date on or after 1970-01-01. */
function startDate(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const date = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text)
    throw notValid(`start_date is not a valid date: ${text}.`)
  if (text < EARLIEST) throw notValid(`start_date must be ${EARLIEST} or later; it is ${text}.`)
  return text
}

/** External references to request: the names for one collection. */
export interface ReferenceChoice {
  readonly collection: string
  readonly names: readonly string[]
}

/** One level of one version of an activity structure. */
interface ActivityStructure {
  readonly structure_version_id: string
  readonly level: number
}

/** How many months before the current one are kept. */
export interface RetainedMonths {
  readonly stream?: string
  readonly months: number
}

/** At most so many rows of a stream may be deleted that deletes are withheld of since this time. */
export interface ApprovedDeletes {
  readonly stream: string
  readonly most: number
  readonly time: string
}

/** Parses `stream:count:time`; the schema has checked the form. */
export function approvalOf(text: string): ApprovedDeletes {
  const [stream = '', most, ...time] = text.split(':')
  return { stream, most: Number(most), time: time.join(':') }
}

/** The complete configuration: every default of spec.json is filled in. */
export interface Config {
  readonly tenant: string
  /**
   * The domain of the environment, or `custom` if the configuration has only addresses. Tenants with the same name in
   * two environments are different tenants.
   */
  readonly environment: string
  /** The address of the tenant's host, without a slash at the end. */
  readonly baseUrl: string
  /** The address of the token service; `/connect/token` is below it. */
  readonly authUrl: string
  readonly apiName: string
  readonly clientId: string
  readonly clientSecret: string
  /** YYYY-MM-DD. If it is undefined, syncs start at the service's own limit, 1 January of last year. */
  readonly startDate: string | undefined
  readonly company: string | undefined
  readonly externalReferences: readonly ReferenceChoice[]
  readonly activityStructures: readonly ActivityStructure[]
  readonly privacy: PrivacySettings
  /** Codes of people whose records the source leaves out; see `PersonCodes`. */
  readonly suppressedPeople: readonly string[]
  /** Whether messages leave out the service's texts, except for its codes, because a text may name people. */
  readonly hidesServiceWords: boolean
  readonly concurrency: number
  readonly requestsPerMinute: number | undefined
  readonly windowDays: number
  readonly futureDays: number
  readonly historyRefreshDays: number
  /** 0 means never. */
  readonly auditDays: number
  /** How many months of dated records are kept: of a stream, or of all that are not named. */
  readonly retention: readonly RetainedMonths[]
  /** How many rows of a stream may be deleted because complete reads do not find them. */
  readonly maxMissing: Limit
  /** Missing rows that may be deleted once. */
  readonly approvedDeletes: readonly ApprovedDeletes[]
  readonly requestTimeoutSeconds: number
  readonly retryMinutes: number
  readonly maxRecordMb: number
  /** Singer only: whether a complete read ends with ACTIVATE_VERSION. */
  readonly emitsActivateVersions: boolean
}

type Json = Record<string, unknown>

/**
 * Parses a configuration of a platform, and warns about parts that have no effect, also if it is invalid, because
 * they may be the reason. Unknown settings are only warnings, because a platform may add settings.
 */
export function configure(input: unknown, log: { warn(message: IdentifiedMessage): void }): Config {
  for (const warning of configWarnings(input)) log.warn(warning)
  const config = parseConfig(input)
  warnOfLeftOut(config, log)
  return config
}

/** Settings that only a configuration file has: the streams of a sync, and where their rows go. */
const OWN_SETTINGS = {
  streams: { type: 'array', items: { type: 'string' } },
  warehouse: { type: 'string' },
  history: { type: 'boolean' },
}

/** Parses a configuration file that people write. Unknown settings are errors, because no platform adds any. */
export function configureFile(
  input: unknown,
  log: { warn(message: IdentifiedMessage): void },
): Config {
  const unknown = unknownSettings(input, OWN_SETTINGS)
  let config: Config
  try {
    config = parseConfig(input)
  } catch (error) {
    for (const warning of unknown) log.warn(warning)
    throw error
  }
  if (unknown.length > 0) throw notValid(unknown.map(({ message }) => message).join(' '))
  for (const warning of referencesWithoutRecords(input)) log.warn(warning)
  warnOfLeftOut(config, log)
  return config
}

function warnOfLeftOut(
  { externalReferences, privacy }: Config,
  log: { warn(message: IdentifiedMessage): void },
): void {
  for (const warning of leftOutReferences(externalReferences, privacy)) log.warn(warning)
}

/** The domains of the vendor's environments. */
const DOMAINS = { production: 'myprotime.eu', sandbox: 'myprotimesandbox.eu' } as const

/**
 * Validates unknown JSON against spec.json, fills in the defaults, and derives the addresses. Throws a config error
 * with one sentence per fault, which never quotes a secret.
 */
export function parseConfig(input: unknown): Config {
  const config = structuredClone(input) as Json
  const start: unknown = config?.['start_date']
  if (typeof start === 'string') config['start_date'] = withoutTime(start)
  const months: unknown = config?.['retain_months']
  if (typeof months === 'number') config['retain_months'] = [{ months }]
  const faults = [...applyDefaults(config, 'config'), ...mistypedPrivacy(input)]
  if (faults.length > 0) throw notValid(faults.join(' '))
  const environment = config['environment'] as Json
  const settings = privacy(config)
  return {
    tenant: config['tenant'] as string,
    ...addresses(config['tenant'] as string, environment),
    apiName: environment['api_name'] as string,
    clientId: config['client_id'] as string,
    clientSecret: config['client_secret'] as string,
    startDate: startDate(config['start_date'] as string | undefined),
    company: config['company'] as string | undefined,
    externalReferences: references(config['external_references'] as ReferenceChoice[]),
    activityStructures: config['activity_structures'] as ActivityStructure[],
    privacy: settings,
    suppressedPeople: people(config, settings),
    hidesServiceWords: !keepsNames(config['personal_data'] as PrivacyMode),
    concurrency: config['concurrency'] as number,
    requestsPerMinute: config['requests_per_minute'] as number | undefined,
    windowDays: config['window_days'] as number,
    futureDays: config['future_days'] as number,
    historyRefreshDays: config['history_refresh_days'] as number,
    auditDays: config['audit_days'] as number,
    retention: config['retain_months'] as RetainedMonths[],
    maxMissing: limitOf(config['max_missing'] as string),
    approvedDeletes: (config['approved_deletes'] as string[]).map(approvalOf),
    requestTimeoutSeconds: config['request_timeout_seconds'] as number,
    retryMinutes: config['retry_minutes'] as number,
    maxRecordMb: config['max_record_mb'] as number,
    emitsActivateVersions: config['emit_activate_version_messages'] as boolean,
  }
}

function addresses(
  tenant: string,
  environment: Json,
): Pick<Config, 'environment' | 'baseUrl' | 'authUrl'> {
  const type = environment['type'] as 'production' | 'sandbox' | 'custom'
  const domain = type === 'custom' ? environment['environment_url'] : DOMAINS[type]
  // Only the custom environment has these settings.
  const { base_url, auth_url } = type === 'custom' ? environment : {}
  const base = base_url ?? (domain && `https://${tenant}.${domain}`)
  const auth = auth_url ?? (domain && `https://authentication.${domain}/tenants/${tenant}`)
  if (typeof domain === 'string' && !URL.canParse(`https://${tenant}.${domain}`)) {
    throw notValid('environment.environment_url is not the domain of an address.')
  }
  if (typeof base !== 'string' || typeof auth !== 'string') {
    throw notValid(
      'environment.environment_url is missing: give it, or both environment.base_url and environment.auth_url.',
    )
  }
  const authUrl = address('auth_url', auth)
  refuseOtherTenant(tenant, authUrl)
  return {
    environment: typeof domain === 'string' ? domain : 'custom',
    baseUrl: address('base_url', base),
    authUrl,
  }
}

/**
 * Refuses a token service of another tenant: its tokens would read that tenant, and the rows would be stored as those
 * of `tenant`.
 */
function refuseOtherTenant(tenant: string, authUrl: string): void {
  const [, named = tenant] = /\/tenants\/([\w.-]+)$/.exec(authUrl) ?? []
  if (named.toLowerCase() === tenant.toLowerCase()) return
  throw notValid(
    `tenant is ${tenant}, but environment.auth_url is the token service of the tenant ${named}. Correct one of them.`,
  )
}

function address(name: string, text: string): string {
  if (!URL.canParse(text)) {
    throw notValid(`environment.${name} is not an address.`)
  }
  const url = new URL(text)
  const bare = url.username === '' && url.password === ''
  if (!bare || (url.protocol !== 'https:' && !isLoopback(url.hostname))) {
    throw notValid(
      `environment.${name} must be an https address without user name and password; plain http is accepted for loopback only.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function references(choices: readonly ReferenceChoice[]): readonly ReferenceChoice[] {
  const known: readonly string[] = referencedCollections
  for (const [i, { collection }] of choices.entries()) {
    if (known.includes(collection)) continue
    const meant = nearest(collection, known)
    throw notValid(
      `external_references.${i}.collection is ${collection}, which is not a collection with references; ${
        meant === undefined ? `choose one of ${known.join(', ')}.` : `did you mean ${meant}?`
      }`,
    )
  }
  return choices
}

/** The codes of `suppressed_people`. Codes of another key would leave out nobody, so they are refused. */
function people(config: Json, { pseudonyms }: PrivacySettings): readonly string[] {
  const codes = config['suppressed_people'] as readonly string[]
  if (codes.length === 0) return codes
  if (pseudonyms === undefined)
    throw notValid('privacy_key is missing: the codes of suppressed_people were made with it.')
  const { isOurs } = personCodes(pseudonyms)
  const other = codes.findIndex((code) => !isOurs(code))
  if (other < 0) return codes
  throw notValid(
    `suppressed_people.${other} was made with another privacy_key or for another tenant, so it would match nobody. Remove it, or replace it by the code that the present settings give.`,
  )
}

function privacy(config: Json): PrivacySettings {
  const settings = parsePrivacySettings(config)
  if (typeof settings === 'string') throw notValid(settings)
  const faults = ruleFaults(settings.rules)
  if (faults.length > 0) throw notValid(faults.join(' '))
  return settings
}
