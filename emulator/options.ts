/**
 * One set of credentials. `scopes`: full or short names (`people`, `people.read`), or `'all'` with
 * the general scope.
 */
export interface ClientOptions {
  readonly id: string
  readonly secret: string
  /** Left out: every `.read` scope of a collection, without the general `all.read`. */
  readonly scopes?: readonly string[] | 'all'
}

/** A token bucket: `bucket` requests at once, `perSecond` more each second; 429 beyond. */
export interface RateLimit {
  readonly perSecond: number
  readonly bucket: number
  /** Whether a 429 carries `Retry-After`. @default true */
  readonly retryAfter?: boolean
}

/** What the emulated service is, and how it decides what its documents leave open. */
export interface EmulatorOptions {
  /** The same seed and the same `now` give the same tenant. @default 1 */
  seed?: number
  /** Start of the virtual clock. @default '2026-11-20T03:00:00Z' */
  now?: string
  /** Number of employees; 0 is an empty tenant. @default 25 */
  people?: number
  /** Months of dated records up to `now`. @default 2 */
  months?: number
  /** Records per page. @default 100 */
  pageSize?: number
  /** Changes per page of a delta answer; 0 puts them all on one page. @default 0 */
  deltaPageSize?: number
  /** Which text is followed where two differ (api.md 13). @default 'documentation' */
  dialect?: 'documentation' | 'specification'
  /** The API's name in paths and scopes. @default by dialect: 'protimeapi' or 'svcapi' */
  apiName?: string
  /**
   * A delta link that is asked a second time: answers again with all changes since, 409 or 410.
   * @default 'answers'
   */
  usedDeltaLink?: 'answers' | 'conflict' | 'gone'
  /** Whether the filter of a delta's start holds for the later changes too. @default true */
  deltaFilterBound?: boolean
  /** What a delta reports for a record that leaves the start's filter. @default 'delete' */
  leavingRow?: 'delete' | 'update' | 'nothing'
  /**
   * `?delta` while another delta of the collection is active: the old one dies, or 409. @default
   * 'replaces'
   */
  secondStart?: 'replaces' | 'conflict'
  /**
   * What the 72 hours of a delta count from. @default by dialect: 'last-use' (documentation) or
   * 'age'
   */
  expiry?: 'last-use' | 'age'
  /** Phase 2 lists every change by itself instead of the latest state of each id. @default false */
  deltaLog?: boolean
  /**
   * Phase 2 leaves out a record that came and went since the link was given. It has no effect with
   * `deltaLog`. @default false
   */
  netDelta?: boolean
  /** Inserted and updated items of phase 2 come as plain records. @default false */
  plainDeltaItems?: boolean
  /** A deleted item of phase 2 carries a lower version than its record had. @default false */
  staleDeletes?: boolean
  /** Lifetime of an access token in seconds of the virtual clock. @default 1800 */
  tokenSeconds?: number
  /** @default one client: 'connector' with 'emulator-secret' */
  clients?: readonly ClientOptions[]
  /** 0 takes any free port. @default 0 */
  port?: number
  /** Port of the control endpoint (0: any), or false for none. @default false */
  controlPort?: number | false
  /** @default none */
  rateLimit?: RateLimit | undefined
  /** Real milliseconds before each answer. @default 0 */
  latencyMs?: number
  /** Compress answers for clients that accept it. @default false */
  compress?: boolean
}

/** The options with every default filled in. They may be changed while the service runs. */
export type ResolvedOptions = Required<EmulatorOptions>

/** Fills in the defaults that the fields of `EmulatorOptions` document. */
export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  const dialect = options.dialect ?? 'documentation'
  return {
    seed: 1,
    now: '2026-11-20T03:00:00Z',
    people: 25,
    months: 2,
    pageSize: 100,
    deltaPageSize: 0,
    apiName: dialect === 'documentation' ? 'protimeapi' : 'svcapi',
    usedDeltaLink: 'answers',
    deltaFilterBound: true,
    leavingRow: 'delete',
    secondStart: 'replaces',
    expiry: dialect === 'documentation' ? 'last-use' : 'age',
    deltaLog: false,
    netDelta: false,
    plainDeltaItems: false,
    staleDeletes: false,
    tokenSeconds: 1800,
    clients: [{ id: 'connector', secret: 'emulator-secret' }],
    port: 0,
    controlPort: false,
    rateLimit: undefined,
    latencyMs: 0,
    compress: false,
    ...options,
    dialect,
  }
}
