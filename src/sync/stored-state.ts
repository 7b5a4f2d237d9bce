import type { Day } from './days.ts'
import type { StoredDeletes, StoredKeys } from './live-keys.ts'
import type { Backfill, Changes, Link, Position } from './position.ts'

/**
 * The state of one stream as it is stored: flat, with constant keys, null for what is not there,
 * because some platforms merge states key by key.
 */
export interface StateBlob {
  readonly bookmark_version: 2
  readonly mode: string
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
  /** The phase of `Position`; one that is complete and continues by its changes is in these. */
  readonly phase: string
  /** The page or the delta link to request next. */
  readonly link: string | null
  readonly link_at: string | null
  readonly requested: boolean
  readonly slice: string | null
  readonly listing_at: string | null
  readonly until: string | null
  readonly window: string | null
  /** The delta link to come back to after a backfill. */
  readonly delta_link: string | null
  readonly delta_link_at: string | null
  readonly backfilled_at: string | null
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

/** What a stored state says of the position. */
type PositionFields = Pick<
  StateBlob,
  | 'phase'
  | 'link'
  | 'link_at'
  | 'requested'
  | 'slice'
  | 'listing_at'
  | 'until'
  | 'window'
  | 'delta_link'
  | 'delta_link_at'
  | 'backfilled_at'
>

const NOWHERE: PositionFields = {
  phase: 'complete',
  link: null,
  link_at: null,
  requested: false,
  slice: null,
  listing_at: null,
  until: null,
  window: null,
  delta_link: null,
  delta_link_at: null,
  backfilled_at: null,
}

/** The fields of a position; one that is complete and continues by its changes is in these. */
function positionFields(position: Position): PositionFields {
  const { phase } = position
  switch (phase) {
    case 'initial':
      return { ...NOWHERE, phase, ...linkFields(position.page), window: position.window }
    case 'backfill':
      return {
        ...NOWHERE,
        phase,
        ...linkFields(position.page),
        slice: position.slice,
        listing_at: textOf(position.begunAt),
        until: position.until,
        window: position.changes.window,
        delta_link: position.changes.delta.url,
        delta_link_at: textOf(position.changes.delta.at),
      }
    case 'changes':
      return {
        ...NOWHERE,
        phase,
        ...linkFields(position.delta),
        requested: position.requested,
        window: position.window,
        backfilled_at: textOf(position.backfilledAt),
      }
    case 'list':
      return {
        ...NOWHERE,
        phase,
        ...linkFields(position.page),
        slice: position.slice,
        until: position.until,
      }
    case 'complete':
      return position.next === 'list' ? NOWHERE : positionFields(position.next)
  }
}

/** The position, if the fields say of its phase what that needs, and nothing that it cannot have. */
function readPosition(stored: StateBlob): Position | undefined {
  const { mode, phase, start, window, until, slice, requested } = stored
  const isList = phase === 'list' || phase === 'complete'
  if (mode === 'full_refresh' && !isList) return undefined
  // Only records with a day have a window, and only a start before it has days to backfill.
  const isWindowed = (start === null) === (window === null)
  const hasBackfill = start !== null && window !== null && start < window
  if (stored.backfill_ids !== null && !isList && !hasBackfill) return undefined
  const page = readLink(stored.link, stored.link_at)
  const isListing = until !== null && (page === null || slice !== null) && (start ?? '') <= until
  const changes = (delta: Link): Changes => ({
    phase: 'changes',
    delta,
    requested: phase === 'changes' && requested,
    // After an interrupted first reading its link may have been requested, too.
    maybeConsumed: phase === 'changes' ? requested : true,
    window,
    backfilledAt: readTime(stored.backfilled_at),
  })
  switch (phase) {
    case 'initial':
      return page === null || isWindowed
        ? { phase, page, window, maybeConsumed: page !== null }
        : undefined
    case 'backfill': {
      const delta = readLink(stored.delta_link, stored.delta_link_at)
      if (!hasBackfill || delta === null || until === null || !isListing) return undefined
      const begunAt = readTime(stored.listing_at)
      return { phase, slice, page, until, begunAt, changes: changes(delta) } satisfies Backfill
    }
    case 'changes':
      return page !== null && isWindowed ? changes(page) : undefined
    case 'list':
      return isListing || (page === null && slice === null && until === null)
        ? { phase, slice, page, until }
        : undefined
    default:
      return page === null && slice === null ? { phase: 'complete', next: 'list' } : undefined
  }
}

function linkFields(link: Link | null): Pick<StateBlob, 'link' | 'link_at'> {
  return { link: link?.url ?? null, link_at: textOf(link?.at ?? null) }
}

function readLink(url: string | null, at: string | null): Link | null {
  return url === null ? null : { url, at: readTime(at) }
}

function textOf(time: Date | null): string | null {
  return time?.toISOString() ?? null
}

function readTime(text: string | null): Date | null {
  return text === null ? null : new Date(text)
}

export type Mode = 'full_refresh' | 'incremental'

/** What is stored of the reading of a stream. */
export interface StoredState {
  readonly mode: Mode
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
  const position = readPosition(stored)
  if (position === undefined) return { unreadable: 'its fields contradict each other' }
  return {
    mode: stored.mode as Mode,
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
  const days = ['start', 'until', 'window'] as const
  const times = ['link_at', 'listing_at', 'delta_link_at', 'backfilled_at'] as const
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

function isDeletes(group: unknown): group is StoredDeletes {
  const { keys, isUnseen } = (group ?? {}) as Fields
  return typeof keys === 'string' && typeof isUnseen === 'boolean'
}

function isDay(text: string | null): boolean {
  const time = DAY.test(text ?? '') ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text ?? '')
}
