/**
 * How webhooks behave where the documents of the service leave that open. `webhookOptionFacts` says
 * what each option means, `defaultWebhookOptions` has the defaults.
 */
export interface WebhookOptions {
  eventShape?: 'record' | 'envelope'
  deleteEvent?: 'envelope' | 'bare' | 'record' | 'none'
  assignmentLevels?: 'array' | 'object'
  fanOut?: boolean
  webhookDays?: number
  validUntil?: 'utc' | 'offset' | 'seven-digits'
  uninitializedMinutes?: number
  webhookKeyName?: string
  createdStatus?: '201' | '200'
  createdBody?: 'whole' | 'key'
  createdLocation?: 'relative' | 'absolute' | 'none'
  sameWebhook?: 'allowed' | 'conflict'
  assignmentsWebhook?: 'offered' | 'refused'
  reenableWebhooks?: boolean
  expiredWebhook?: 'disabled' | 'unchanged'
  deleteStatus?: '204' | '200'
  secondDelete?: '404' | 'success'
  deletedWebhook?: 'hidden' | 'readable' | 'listed'
  successCodes?: '2xx' | '200'
  retriedBody?: 'snapshot' | 'present'
  eventOrder?: 'free' | 'held'
  deliveryTimeoutMs?: number
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
    assignmentLevels: 'array',
    fanOut: false,
    webhookDays: 30,
    validUntil: documented ? 'offset' : 'utc',
    uninitializedMinutes: 0,
    webhookKeyName: 'privateKey',
    createdStatus: '201',
    createdBody: 'whole',
    createdLocation: 'relative',
    sameWebhook: 'allowed',
    assignmentsWebhook: 'offered',
    reenableWebhooks: false,
    expiredWebhook: documented ? 'disabled' : 'unchanged',
    deleteStatus: '204',
    secondDelete: '404',
    deletedWebhook: 'hidden',
    successCodes: '2xx',
    retriedBody: 'snapshot',
    eventOrder: 'free',
    deliveryTimeoutMs: 10_000,
    deliveryConnections: 16,
    deliverTo: undefined,
  }
}

/** How the service writes where its texts leave that open; `writeOptionFacts` says what each means. */
export interface WriteOptions {
  secondValue?: 'replaces' | 'conflict'
  unknownRecord?: 'not-found' | 'not-valid' | 'accepted'
  numericReference?: 'refused' | 'taken'
  referenceAnswer?: 'empty' | 'reference'
  unknownValue?: 'not-found' | 'no-content'
  deletedRecord?: 'keeps' | 'frees'
  unknownName?: 'empty' | 'not-found'
  referenceList?: 'page' | 'array' | 'map'
  referenceCase?: 'sensitive' | 'insensitive'
  referenceChange?: 'nothing' | 'record' | 'referring'
  leftOut?: 'emptied' | 'kept'
  equalPut?: 'version' | 'nothing'
  upsert?: boolean
  etags?: boolean
  staleEtag?: 'precondition-failed' | 'conflict'
  translationKeys?: 'languages' | 'cultures'
  emptyName?: 'refused' | 'accepted'
  codeLength?: 'characters' | 'utf-16'
  location?: 'relative' | 'absolute'
  identifierInBody?: 'ignored' | 'refused'
  validationItems?: 'objects' | 'texts'
}

/** The defaults, which follow the text of the dialect. */
function defaultWriteOptions(dialect: 'documentation' | 'specification'): Required<WriteOptions> {
  const isDocumentation = dialect === 'documentation'
  return {
    secondValue: 'replaces',
    unknownRecord: 'not-found',
    numericReference: 'refused',
    referenceAnswer: 'empty',
    unknownValue: 'not-found',
    deletedRecord: 'keeps',
    unknownName: 'empty',
    referenceList: isDocumentation ? 'page' : 'array',
    referenceCase: 'sensitive',
    referenceChange: 'nothing',
    leftOut: 'emptied',
    equalPut: 'version',
    upsert: false,
    etags: false,
    staleEtag: 'precondition-failed',
    translationKeys: isDocumentation ? 'cultures' : 'languages',
    emptyName: 'refused',
    codeLength: 'characters',
    location: isDocumentation ? 'relative' : 'absolute',
    identifierInBody: 'ignored',
    validationItems: 'objects',
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

/** A token bucket: `bucket` requests at once, `perSecond` more each second; 429 beyond. */
export interface RateLimit {
  readonly perSecond: number
  readonly bucket: number
  /** Whether a 429 carries `Retry-After`. @default true */
  readonly retryAfter?: boolean
}

/**
 * What the emulated service holds, and how it behaves where its documents leave that open.
 * `optionFacts` says what each option means, `resolveOptions` has the defaults.
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
  paging?: 'key' | 'offset' | 'snapshot'
  openRange?: 'answers' | 'refused'
  integerReference?: 'value' | 'id'
  usedDeltaLink?: 'answers' | 'conflict' | 'gone'
  deltaFilterBound?: boolean
  leavingRow?: 'delete' | 'update' | 'nothing'
  secondStart?: 'replaces' | 'conflict'
  expiry?: 'last-use' | 'age'
  deltaLog?: boolean
  netDelta?: boolean
  plainDeltaItems?: boolean
  staleDeletes?: boolean
  tokenSeconds?: number
  clients?: readonly ClientOptions[]
  port?: number
  /** False: there is no control endpoint. */
  controlPort?: number | false
  rateLimit?: RateLimit | undefined
  latencyMs?: number
  compress?: boolean
  byteOrderMark?: boolean
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
    paging: 'key',
    apiName: isDocumentation ? 'protimeapi' : 'svcapi',
    usedDeltaLink: 'answers',
    deltaFilterBound: true,
    leavingRow: 'delete',
    secondStart: 'replaces',
    expiry: isDocumentation ? 'last-use' : 'age',
    deltaLog: false,
    netDelta: false,
    plainDeltaItems: false,
    staleDeletes: false,
    openRange: 'answers',
    integerReference: 'value',
    tokenSeconds: 1800,
    clients: [{ id: 'connector', secret: 'emulator-secret' }],
    port: 0,
    controlPort: false,
    rateLimit: undefined,
    latencyMs: 0,
    compress: false,
    byteOrderMark: false,
    ...defaultWebhookOptions(dialect),
    ...defaultWriteOptions(dialect),
    ...options,
    dialect,
  }
}
