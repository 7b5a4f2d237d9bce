import type { Day } from './days.ts'
import { readLatestChanges } from './latest-changes.ts'
import type { StoredDeletes, StoredKeys } from './live-keys.ts'
import { type Position, type PositionFields, positionFields, readPosition } from './position.ts'
import type { Fingerprints } from './summed-rows.ts'

/**
 * The state of one stream as it is stored: flat, with constant keys, null for what is not there,
 * because some platforms merge states key by key.
 */
export interface StateBlob extends PositionFields {
  readonly bookmark_version: 2
  readonly mode: string
  /** Older states have none. */
  readonly refresh: number | null
  readonly service: string
  /** States of before have none. */
  readonly environment: string | null
  readonly settings: string
  /** See `writeFields`; states of before have none. */
  readonly fields: string | null
  readonly start: string | null
  readonly generation: number
  /** The last one that was written; states of before have none. */
  readonly cursor: number | null
  readonly settled: boolean
  readonly replaces: boolean
  /** Older states have none. */
  readonly list_due: boolean | null
  /** Older states have neither. */
  readonly delta_offered: boolean | null
  readonly listed_until: string | null
  /** Older states have none of the four. */
  readonly audited_at: string | null
  readonly auditing: boolean | null
  /** The JSON text of an object. */
  readonly audited_parts: string | null
  /** See `LatestChanges.encode`. */
  readonly latest_changes: string | null
  readonly change_version: string | null
  readonly tracked: boolean
  /** Ids in the window of the delta or in the list, and in the days before it. */
  readonly window_ids: string | null
  readonly backfill_ids: string | null
  /** The JSON text of the pending deletes; null for none. */
  readonly pending: string | null
  /** For the progress of the next sync; older states have neither. */
  readonly whole_rows: number | null
  readonly rows_so_far: number | null
  /** How many rows the stream has had in all its syncs: no set of ids stands for more. */
  readonly rows_counted: number | null
}

type Kind = 'string' | 'number' | 'boolean'

/** The type of each field; null is allowed where `?` stands. Checked before a blob is believed. */
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
  whole_rows: 'number?',
  rows_so_far: 'number?',
  rows_counted: 'number?',
}

export type Mode = 'full_refresh' | 'incremental'

/** What is stored of the reading of a stream. */
export interface StoredState {
  readonly mode: Mode
  /** See `StreamRequest.refresh`; null where it was not known. */
  readonly refresh: number | null
  /** The warehouse is a copy of this service: tenant, address and API name. */
  readonly service: string
  /** See `Config.environment`; null where it was not stored. */
  readonly environment: string | null
  /** A digest of the settings that shape the records: external references, activity structures. */
  readonly settings: string
  /** The fields of its records, see `writeFields`; null where they were not stored. */
  readonly fields: string | null
  /** The first day that the warehouse stands for; null for streams whose records have no day. */
  readonly start: Day | null
  /** Seconds since 1970 at the beginning of the present complete reading; rises with each. */
  readonly generation: number
  /** The highest cursor of a record that may have been written; 0 where it had none. */
  readonly cursor: number
  /** True once everything of this generation has been written, the deletes of what is missing included. */
  readonly isSettled: boolean
  /**
   * True when rows of older generations are gone once this one is settled: not where the warehouse
   * may hold another service's rows, or days that cannot be read any more.
   */
  readonly replacesOlder: boolean
  /**
   * True when the present complete reading may have passed over rows of which no delta will tell: a list
   * follows before it is settled.
   */
  readonly isListDue: boolean
  /** True once the service has answered a delta of the stream: a refusal is then a passing one. */
  readonly wasDeltaOffered: boolean
  /** The last day that a list of the stream has had; null for what has no days, or was not listed. */
  readonly listedUntil: Day | null
  /** When the last audit began, in the service's time; null where there was none. */
  readonly auditedAt: Date | null
  /** True while an audit runs, or where one was broken off. */
  readonly isAuditing: boolean
  /** What the parts were at the last audit; empty where there was none. */
  readonly auditedParts: Fingerprints
  /** See `LatestChanges.encode`. */
  readonly latestChanges: string | null
  readonly position: Position
  readonly keys: StoredKeys
  /** How many rows the last complete reading had; null where none was counted. */
  readonly wholeRows: number | null
  /** How many rows the present complete reading has had so far; null once it is settled. */
  readonly rowsSoFar: number | null
  /** How many rows the stream has had since it was first read, in all readings; null where none was counted. */
  readonly rowsCounted: number | null
}

const PHASES: ReadonlySet<string> = new Set(['initial', 'backfill', 'changes', 'list', 'complete'])
const DELTA_PHASES: ReadonlySet<string> = new Set(['initial', 'backfill', 'changes'])
const DAY = /^\d{4}-\d{2}-\d{2}$/
/** Generations are seconds since 1970; a larger one is none of ours, and leaves no room for the next. */
const MAX_GENERATION = 2 ** 32
/** Cursors are microseconds since 1970, about: a larger one is of a year that no clock tells. */
const MAX_CURSOR = 2 ** 53 - 2 ** 50

/** The state of a stream as it is stored. */
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
    whole_rows: state.wholeRows,
    rows_so_far: state.rowsSoFar,
    rows_counted: state.rowsCounted,
  }
}

/**
 * Believes a stored blob, or says in words why not. Null and an empty object mean that the stream
 * was never read or has been reset (Airbyte protocol, "State").
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
    // A position of a delta says so itself.
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
    },
    wholeRows: count(stored.whole_rows),
    rowsSoFar: count(stored.rows_so_far),
    rowsCounted: count(stored.rows_counted),
  }
}

/** A count that is none is not known; nothing else is in doubt. */
function count(stored: number | null): number | null {
  return Number.isSafeInteger(stored) && Number(stored) >= 0 ? stored : null
}

type Fields = Readonly<Record<string, unknown>>

/** Every field of a stored state, null where the blob has none. */
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

/** The first field with a value of the right type that means nothing. */
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

function isDay(text: string | null): boolean {
  const time = DAY.test(text ?? '') ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text ?? '')
}
