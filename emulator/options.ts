import { defaultWebhookOptions, type WebhookOptions } from './webhooks/webhook-options.ts'
import { defaultWriteOptions, type WriteOptions } from './writes/write-options.ts'

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
    ...defaultWebhookOptions(dialect),
    ...defaultWriteOptions(dialect),
    ...options,
    dialect,
  }
}
