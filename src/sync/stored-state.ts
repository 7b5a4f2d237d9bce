import { createHash } from 'node:crypto'
import { type Day, isDay } from './days.ts'
import { readLatestChanges } from './latest-changes.ts'
import { type Position, type PositionFields, positionFields, readPosition } from './position.ts'
import type { StoredDeletes, StoredKeys } from './stored-keys.ts'
import type { Fingerprints } from './summed-rows.ts'

/**
 * The stored state of one stream. It is flat, always has the same keys, and has null for missing values, because some
 * platforms merge states key by key.
 */
export interface StateBlob extends PositionFields {
  readonly bookmark_version: 2
  readonly mode: string
  /** Older states do not have it. */
  readonly refresh: number | null
  readonly service: string
  /** Older states do not have it. */
  readonly environment: string | null
  readonly settings: string
  /** See `writeFields`; older states do not have it. */
  readonly fields: string | null
  readonly start: string | null
  readonly generation: number
  /** The last one that was written; older states do not have it. */
  readonly cursor: number | null
  readonly settled: boolean
  readonly replaces: boolean
  /** Older states do not have it. */
  readonly list_due: boolean | null
  /** Older states have neither. */
  readonly delta_offered: boolean | null
  readonly listed_until: string | null
  /** Older states do not have these four. */
  readonly audited_at: string | null
  readonly auditing: boolean | null
  /** The JSON text of an object. */
  readonly audited_parts: string | null
  /** See `LatestChanges.encode`. */
  readonly latest_changes: string | null
  readonly change_version: string | null
  readonly tracked: boolean
  /** The ids in the window of the delta or in the list, and those in the days before it. */
  readonly window_ids: string | null
  readonly backfill_ids: string | null
  /** The JSON text of the pending deletions; null for none. */
  readonly pending: string | null
  /** Older states do not have it. */
  readonly unconfirmed_ids: string | null
  /** For the progress of the next sync; older states have neither. */
  readonly whole_rows: number | null
  readonly rows_so_far: number | null
  /** The number of rows in all syncs of the stream: no set of ids can be larger. */
  readonly rows_counted: number | null
}

type Kind = 'string' | 'number' | 'boolean'

/** The type of each field; `?` allows null. A state is checked against it before it is used. */
const STATE_FIELDS: Readonly<Record<keyof StateBlob, Kind | `${Kind}?`>> = {
  bookmark_version: 'number',
  mode: 'string',
  refresh: 'number?',
  service: 'string',
  environment: 'string?',
  settings: 'string',
  fields: 'string?',
  start: 'string?',
  generation: 'number',
  cursor: 'number?',
  settled: 'boolean',
  replaces: 'boolean',
  list_due: 'boolean?',
  delta_offered: 'boolean?',
  listed_until: 'string?',
  audited_at: 'string?',
  auditing: 'boolean?',
  audited_parts: 'string?',
  latest_changes: 'string?',
  phase: 'string',
  link: 'string?',
  link_at: 'string?',
  requested: 'boolean',
  slice: 'string?',
  listing_at: 'string?',
  until: 'string?',
  window: 'string?',
  delta_link: 'string?',
  delta_link_at: 'string?',
  backfilled_at: 'string?',
  change_version: 'string?',
  tracked: 'boolean',
  window_ids: 'string?',
  backfill_ids: 'string?',
  pending: 'string?',
  unconfirmed_ids: 'string?',
  whole_rows: 'number?',
  rows_so_far: 'number?',
  rows_counted: 'number?',
}

export type Mode = 'full_refresh' | 'incremental'

/** The stored state of a stream, parsed. */
export interface StoredState {
  readonly mode: Mode
  /** See `StreamRequest.refresh`; null if it was unknown. */
  readonly refresh: number | null
  /** The service that the warehouse is a copy of: tenant, address and API name. */
  readonly service: string
  /** See `Config.environment`; null if it was not stored. */
  readonly environment: string | null
  /**
   * A digest of the settings that determine the records: external references, activity structures, and the treatment
   * of personal data.
   */
  readonly settings: string
  /** The fields of the records: see `writeFields`; null if they were not stored. */
  readonly fields: string | null
  /** The first day that the warehouse covers; null for streams without dates. */
  readonly start: Day | null
  /** Seconds since 1970 at the beginning of the current complete read; increases with each one. */
  readonly generation: number
  /** The highest cursor of a record that may have been written; 0 if there was none. */
  readonly cursor: number
  /** True once everything of this generation has been written, including the deletions of missing rows. */
  readonly isSettled: boolean
  /**
   * True if rows of older generations are deleted once this one is settled. False if the warehouse may have another
   * service's rows, or days that can no longer be read.
   */
  readonly replacesOlder: boolean
  /**
   * True if the current complete read may have missed rows that no delta will report: then a list follows before it
   * is settled.
   */
  readonly isListDue: boolean
  /** True once the service has answered a delta of the stream: later refusals are then temporary. */
  readonly wasDeltaOffered: boolean
  /** The last day of any list of the stream so far; null for streams without dates, and before the first list. */
  readonly listedUntil: Day | null
  /** When the last audit began, in the service's time; null if there was none. */
  readonly auditedAt: Date | null
  /** True during an audit, and after one that was interrupted. */
  readonly isAuditing: boolean
  /** The fingerprints of the parts at the last audit; empty if there was none. */
  readonly auditedParts: Fingerprints
  /** See `LatestChanges.encode`. */
  readonly latestChanges: string | null
  readonly position: Position
  readonly keys: StoredKeys
  /** The number of rows in the last complete read; null if unknown. */
  readonly wholeRows: number | null
  /** The number of rows in the current complete read so far; null once it is settled. */
  readonly rowsSoFar: number | null
  /** The number of rows in all reads of the stream so far; null if unknown. */
  readonly rowsCounted: number | null
}

const PHASES: ReadonlySet<string> = new Set(['initial', 'backfill', 'changes', 'list', 'complete'])
const DELTA_PHASES: ReadonlySet<string> = new Set(['initial', 'backfill', 'changes'])
const MAX_GENERATION = 2 ** 32
/**
 * The limit of a cursor. Cursors are about microseconds since 1970; a larger one is no time that a clock can show.
 */
const MAX_CURSOR = 2 ** 53 - 2 ** 50

/** Converts a state to its stored form. */
export function writeState(state: StoredState): StateBlob {
  const { mode, service, environment, settings, fields, start, generation, cursor, keys } = state
  return {
    bookmark_version: 2,
    mode,
    refresh: state.refresh,
    service,
    environment,
    settings,
    fields,
    start,
    generation,
    cursor,
    settled: state.isSettled,
    replaces: state.replacesOlder,
    list_due: state.isListDue,
    delta_offered: state.wasDeltaOffered,
    listed_until: state.listedUntil,
    audited_at: state.auditedAt?.toISOString() ?? null,
    auditing: state.isAuditing,
    audited_parts: writeParts(state.auditedParts),
    latest_changes: state.latestChanges,
    ...positionFields(state.position),
    change_version: keys.highestVersion,
    tracked: keys.isTracked,
    window_ids: keys.window,
    backfill_ids: keys.backfill,
    pending: keys.pending.length === 0 ? null : JSON.stringify(keys.pending),
    unconfirmed_ids: keys.unconfirmed,
    whole_rows: state.wholeRows,
    rows_so_far: state.rowsSoFar,
    rows_counted: state.rowsCounted,
  }
}

/**
 * Parses and checks a stored state, or says why it cannot be used. Null and an empty object mean that the stream was
 * never read or has been reset (Airbyte protocol, "State").
 */
export function readState(blob: unknown): StoredState | 'none' | { readonly unreadable: string } {
  if (blob === undefined || blob === null) return 'none'
  if (typeof blob !== 'object' || Array.isArray(blob)) return { unreadable: 'it is not an object' }
  if (Object.keys(blob).length === 0) return 'none'
  const fields = renewed(blob as Fields)
  if (fields['bookmark_version'] !== 2) {
    return { unreadable: 'it is of another connector or of an unknown version' }
  }
  const damaged = damagedType(fields) ?? damagedValue(fields as unknown as StateBlob)
  if (damaged !== undefined) return { unreadable: `its field ${damaged} is damaged` }
  const stored = fields as unknown as StateBlob
  const pending = readPending(stored.pending)
  if (pending === undefined) return { unreadable: 'its field pending is damaged' }
  const auditedParts = readParts(stored.audited_parts)
  if (auditedParts === undefined) return { unreadable: 'its field audited_parts is damaged' }
  const position = readPosition(stored)
  if (position === undefined) return { unreadable: 'its fields contradict each other' }
  return {
    mode: stored.mode as Mode,
    refresh: stored.refresh,
    service: stored.service,
    environment: stored.environment,
    settings: stored.settings,
    fields: stored.fields,
    start: stored.start,
    generation: stored.generation,
    cursor: stored.cursor ?? 0,
    isSettled: stored.settled,
    replacesOlder: stored.replaces,
    isListDue: stored.list_due ?? false,
    // The position of a delta implies it.
    wasDeltaOffered:
      stored.delta_offered ?? (stored.link !== null && DELTA_PHASES.has(stored.phase)),
    listedUntil: stored.listed_until,
    auditedAt: stored.audited_at === null ? null : new Date(stored.audited_at),
    isAuditing: stored.auditing ?? false,
    auditedParts,
    latestChanges: stored.latest_changes,
    position,
    keys: {
      highestVersion: stored.change_version,
      isTracked: stored.tracked,
      window: stored.window_ids,
      backfill: stored.backfill_ids,
      pending,
      unconfirmed: stored.unconfirmed_ids,
    },
    wholeRows: count(stored.whole_rows),
    rowsSoFar: count(stored.rows_so_far),
    rowsCounted: count(stored.rows_counted),
  }
}

/** Converts a count; an invalid one counts as unknown, which does not invalidate the state. */
function count(stored: number | null): number | null {
  return Number.isSafeInteger(stored) && Number(stored) >= 0 ? stored : null
}

type Fields = Readonly<Record<string, unknown>>

/** All fields of a stored state; null for those that it does not have. */
function renewed(blob: Fields): Fields {
  return Object.fromEntries(Object.keys(STATE_FIELDS).map((name) => [name, blob[name] ?? null]))
}

function damagedType(fields: Fields): string | undefined {
  const found = Object.entries(STATE_FIELDS).find(([name, kind]) => {
    const value = fields[name]
    return value === null ? !kind.endsWith('?') : typeof value !== kind.replace('?', '')
  })
  return found?.[0]
}

/** The first field with an invalid value of the right type. */
function damagedValue(stored: StateBlob): string | undefined {
  const { mode, phase, generation, cursor } = stored
  if (mode !== 'incremental' && mode !== 'full_refresh') return 'mode'
  if (!PHASES.has(phase)) return 'phase'
  if (!Number.isInteger(generation) || generation < 0 || generation > MAX_GENERATION)
    return 'generation'
  if (cursor !== null && !(Number.isInteger(cursor) && cursor >= 0 && cursor <= MAX_CURSOR))
    return 'cursor'
  if (stored.latest_changes !== null && readLatestChanges(stored.latest_changes) === undefined)
    return 'latest_changes'
  const days = ['start', 'until', 'window', 'listed_until'] as const
  const times = ['link_at', 'listing_at', 'delta_link_at', 'backfilled_at', 'audited_at'] as const
  return (
    days.find((name) => stored[name] !== null && !isDay(stored[name])) ??
    times.find((name) => stored[name] !== null && Number.isNaN(Date.parse(stored[name])))
  )
}

function readPending(text: string | null): readonly StoredDeletes[] | undefined {
  if (text === null) return []
  try {
    const groups: unknown = JSON.parse(text)
    return Array.isArray(groups) && groups.every(isDeletes) ? groups : undefined
  } catch {
    return undefined
  }
}

function writeParts(parts: Fingerprints): string | null {
  return parts.size === 0 ? null : JSON.stringify(Object.fromEntries(parts))
}

function readParts(text: string | null): Fingerprints | undefined {
  try {
    const parts = Object.entries((JSON.parse(text ?? '{}') ?? {}) as object)
    return parts.every(([, print]) => typeof print === 'string') ? new Map(parts) : undefined
  } catch {
    return undefined
  }
}

function isDeletes(group: unknown): group is StoredDeletes {
  const { keys, isUnseen } = (group ?? {}) as Fields
  return typeof keys === 'string' && typeof isUnseen === 'boolean'
}

/** Any field, including fields that are in no schema. */
const ANY = '*'
/** The length of a field's digest: even among hundreds of fields, hardly ever two have the same one. */
const LENGTH = 5

/** The fields of a stream as its state stores them: a digest of each path, or `*` for any field. */
export function writeFields(fields: readonly string[] | undefined): string {
  return fields === undefined ? ANY : fields.map(digest).sort().join('')
}

/**
 * The fields that records may have now but not under a stored set, so that older rows lack them; undefined if there
 * are none. `every other field` means fields that are in no schema.
 */
export function addedFields(
  stored: string | null,
  fields: readonly string[] | undefined,
): readonly string[] | undefined {
  // Older states do not have the fields.
  if (stored === null || stored === ANY) return undefined
  if (fields === undefined) return ['every other field']
  const before = new Set(stored.match(new RegExp(`.{${LENGTH}}`, 'g')))
  const added = fields.filter((field) => !before.has(digest(field)))
  return added.length === 0 ? undefined : added
}

function digest(field: string): string {
  return createHash('sha256').update(field).digest('base64url').slice(0, LENGTH)
}
