/**
 * How webhooks behave where the service's documents do not say. `webhookOptionFacts` describes each
 * option, `defaultWebhookOptions` has the defaults.
 */
export interface WebhookOptions {
  eventShape?: 'record' | 'envelope'
  deleteEvent?: 'envelope' | 'bare' | 'record' | 'none'
  webhookDays?: number
  validUntil?: 'utc' | 'offset' | 'seven-digits'
  uninitializedMinutes?: number
  webhookKeyName?: string
  webhookLimit?: number
  createdBody?: 'whole' | 'key'
  expiredWebhook?: 'disabled' | 'unchanged'
  deletedWebhook?: 'hidden' | 'readable' | 'listed' | 'disabled'
  retriedBody?: 'snapshot' | 'present'
  eventOrder?: 'free' | 'held'
  deliveryConnections?: number
  deliverTo?: string | undefined
}

/** The defaults of a dialect. */
function defaultWebhookOptions(
  dialect: 'documentation' | 'specification',
): Required<WebhookOptions> {
  const documented = dialect === 'documentation'
  return {
    eventShape: documented ? 'envelope' : 'record',
    deleteEvent: documented ? 'envelope' : 'bare',
    webhookDays: 30,
    validUntil: documented ? 'offset' : 'utc',
    uninitializedMinutes: 0,
    webhookKeyName: 'privateKey',
    webhookLimit: 0,
    createdBody: 'whole',
    expiredWebhook: documented ? 'disabled' : 'unchanged',
    deletedWebhook: 'hidden',
    retriedBody: 'snapshot',
    eventOrder: 'free',
    deliveryConnections: 16,
    deliverTo: undefined,
  }
}

/**
 * How the service handles writes where its documents do not say; `writeOptionFacts` describes each option.
 */
export interface WriteOptions {
  secondValue?: 'replaces' | 'conflict'
  unknownRecord?: 'not-found' | 'not-valid' | 'accepted'
  deletedRecord?: 'keeps' | 'frees'
  referenceList?: 'page' | 'array' | 'map'
  referenceCase?: 'sensitive' | 'insensitive'
  leftOut?: 'emptied' | 'kept'
  etags?: 'none' | 'precondition-failed' | 'conflict' | 'weak'
  location?: 'relative' | 'absolute'
}

/** The defaults, which follow the text of the dialect. */
function defaultWriteOptions(dialect: 'documentation' | 'specification'): Required<WriteOptions> {
  const isDocumentation = dialect === 'documentation'
  return {
    secondValue: 'replaces',
    unknownRecord: 'not-found',
    deletedRecord: 'keeps',
    referenceList: isDocumentation ? 'page' : 'array',
    referenceCase: 'sensitive',
    leftOut: 'emptied',
    etags: 'none',
    location: isDocumentation ? 'relative' : 'absolute',
  }
}

/**
 * One set of credentials. `scopes`: full or short names (`people`, `people.read`), or `'all'`: the
 * general `all.read` and `all.write`, every `.write` and those of webhooks too.
 */
export interface ClientOptions {
  readonly id: string
  readonly secret: string
  /** Left out: every `.read` scope of a collection, nothing else. */
  readonly scopes?: readonly string[] | 'all'
}

/** A token bucket: `bucket` requests at once, `perSecond` more each second; 429 beyond that. */
export interface RateLimit {
  readonly perSecond: number
  readonly bucket: number
  /** Whether a 429 has `Retry-After`. @default true */
  readonly retryAfter?: boolean
}

/**
 * The data of the emulated service, and its behaviour where the documents do not say. `optionFacts`
 * describes each option, `resolveOptions` has the defaults.
 */
export interface EmulatorOptions extends WriteOptions, WebhookOptions {
  seed?: number
  now?: string
  people?: number
  months?: number
  pageSize?: number
  deltaPageSize?: number
  dialect?: 'documentation' | 'specification'
  apiName?: string
  tenant?: string
  listOrder?: 'id' | 'version' | 'date' | 'random'
  paging?: 'key' | 'offset' | 'snapshot'
  openRange?: 'to-today' | 'refused'
  integerReference?: 'value' | 'id'
  deltaLinkCovers?: 'start' | 'issued'
  usedDeltaLink?: 'answers' | 'continues' | 'conflict' | 'gone'
  deltaFilterBound?: boolean
  leavingRow?: 'delete' | 'update' | 'nothing'
  secondStart?: 'replaces' | 'conflict'
  expiry?: 'last-use' | 'age'
  deltaLog?: boolean
  deltaOrder?: 'version' | 'reversed'
  netDelta?: boolean
  plainDeltaItems?: boolean
  staleDeletes?: boolean
  clients?: readonly ClientOptions[]
  port?: number
  /** False means no control endpoint. */
  controlPort?: number | false
  rateLimit?: RateLimit | undefined
  latencyMs?: number
  compress?: boolean
  byteOrderMark?: boolean
  dateHeader?: string | undefined
  jsonSpelling?: 'compact' | 'varied'
}

/** The options with every default filled in. They may be changed while the service runs. */
export type ResolvedOptions = Required<EmulatorOptions>

/** Fills in the defaults. */
export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  const dialect = options.dialect ?? 'documentation'
  const isDocumentation = dialect === 'documentation'
  return {
    seed: 1,
    now: '2026-11-20T03:00:00Z',
    people: 25,
    months: 2,
    pageSize: 100,
    deltaPageSize: 0,
    listOrder: 'id',
    paging: 'key',
    openRange: 'to-today',
    apiName: isDocumentation ? 'protimeapi' : 'svcapi',
    tenant: 'demo',
    deltaLinkCovers: 'start',
    usedDeltaLink: 'answers',
    deltaFilterBound: true,
    leavingRow: 'delete',
    secondStart: 'replaces',
    expiry: isDocumentation ? 'last-use' : 'age',
    deltaLog: false,
    deltaOrder: 'version',
    netDelta: false,
    plainDeltaItems: false,
    staleDeletes: false,
    integerReference: 'value',
    clients: [{ id: 'connector', secret: 'emulator-secret' }],
    port: 0,
    controlPort: false,
    rateLimit: undefined,
    latencyMs: 0,
    compress: false,
    byteOrderMark: false,
    dateHeader: undefined,
    jsonSpelling: 'compact',
    ...defaultWebhookOptions(dialect),
    ...defaultWriteOptions(dialect),
    ...options,
    dialect,
  }
}
