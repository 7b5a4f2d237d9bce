import { createHash } from 'node:crypto'
import { type Day, isDay, LATEST_SECONDS } from '../ground/days.ts'
import { readLatestChanges } from '../rows/latest-changes.ts'
import type { Fingerprints } from '../rows/listed-parts.ts'
import type { StoredDeletes, StoredKeys } from '../rows/stored-keys.ts'
import {
  isOfDelta,
  type Position,
  type PositionFields,
  positionFields,
  readPosition,
} from './position.ts'

export type Mode = 'full_refresh' | 'incremental'

/** A field of the stored state of a stream. */
interface Field<T> {
  readonly stored: string
  /** Parses what is stored, null if there is nothing; undefined if it is damaged. */
  readonly read: (value: unknown) => T | undefined
  readonly write: (value: T) => unknown
  /** The value of a stream that was never read. */
  readonly fresh: T
  readonly about: string
}

type Read<T> = (value: unknown) => T | undefined

const text: Read<string> = (value) => (typeof value === 'string' ? value : undefined)
const flag: Read<boolean> = (value) => (typeof value === 'boolean' ? value : undefined)
const day: Read<Day> = (value) => (typeof value === 'string' && isDay(value) ? value : undefined)
/** A time as text; it is checked and not parsed, because a position has it as text. */
const timeText: Read<string> = (value) => (time(value) === undefined ? undefined : String(value))

function time(value: unknown): Date | undefined {
  const at = typeof value === 'string' ? new Date(value) : new Date(Number.NaN)
  return Math.abs(at.getTime()) <= LATEST_SECONDS * 1000 ? at : undefined
}

function integer(from: number, to: number): Read<number> {
  return (value) =>
    Number.isInteger(value) && Number(value) >= from && Number(value) <= to
      ? Number(value)
      : undefined
}

/** A number of rows. An impossible one is unknown, which does not make the rest of the state useless. */
const rows: Read<number | null> = (value) =>
  value === null || typeof value === 'number'
    ? (integer(0, Number.MAX_SAFE_INTEGER)(value) ?? null)
    : undefined

const orNull =
  <T>(read: Read<T>): Read<T | null> =>
  (value) =>
    value === null ? null : read(value)

/** For a field that older states do not have. */
const or =
  <T>(fallback: T, read: Read<T>): Read<T> =>
  (value) =>
    value === null ? fallback : read(value)

const asStored = (value: unknown) => value

/** A field that is stored as it is, and in older states is missing where null is allowed. */
function plain<T extends string | number | boolean | null>(
  stored: string,
  read: Read<T>,
  fresh: NoInfer<T>,
  about: string,
): Field<T> {
  return { stored, read, write: asStored, fresh, about }
}

/**
 * The highest cursor of a state. Cursors are about microseconds since 1970, so that a sync which begins below it can
 * still count on.
 */
const MAX_CURSOR = 2 ** 53 - 2 ** 50

/**
 * The fields of the state of a stream: reading, checking and writing follow from this table, as do the types and the page
 * for developers. A state is flat, always has the same keys, and has null for what is missing, because some platforms
 * merge states key by key.
 */
export const STATE = {
  mode: plain<Mode>('mode', readMode, 'incremental', 'the sync mode'),
  refresh: plain('refresh', orNull(anyNumber), null, 'the generation_id of a full refresh'),
  service: plain(
    'service',
    text,
    '',
    'the tenant, address and API name that the warehouse is a copy of',
  ),
  environment: plain('environment', orNull(text), null, 'the environment of the tenant'),
  settings: plain(
    'settings',
    text,
    '',
    'a digest of what the records depend on: external references, activity structures, treatment of personal data',
  ),
  fields: plain('fields', orNull(text), null, 'digests of the fields of the records; `*` for any'),
  start: plain('start', orNull(day), null, 'the first day of the warehouse; null without days'),
  generation: plain(
    'generation',
    integer(1, LATEST_SECONDS),
    1,
    'seconds since 1970 when the current complete read began; increases with each one',
  ),
  cursor: plain(
    'cursor',
    or(0, integer(0, MAX_CURSOR)),
    0,
    'the highest cursor that may be written',
  ),
  isSettled: plain(
    'settled',
    flag,
    false,
    'whether all of the generation is written, with the deletes of rows that were not found',
  ),
  replacesOlder: plain(
    'replaces',
    flag,
    true,
    'whether rows of older generations are deleted then; false if they may be of another service, or cannot be read any more',
  ),
  isListDue: plain(
    'list_due',
    or(false, flag),
    false,
    'whether the current read may have missed rows, so that it is compared with lists first',
  ),
  wasDeltaOffered: plain(
    'delta_offered',
    orNull(flag),
    false,
    'whether the service has responded to a delta: later refusals are then temporary',
  ),
  listedUntil: plain('listed_until', orNull(day), null, 'the last day of any list so far'),
  auditedAt: {
    stored: 'audited_at',
    read: orNull(time),
    write: (at) => at?.toISOString() ?? null,
    fresh: null,
    about: 'when the last audit began, also one that failed',
  } as Field<Date | null>,
  comparedAt: {
    stored: 'compared_at',
    read: orNull(time),
    write: (at) => at?.toISOString() ?? null,
    fresh: null,
    about: 'when the last comparison with lists began, also one that failed',
  } as Field<Date | null>,
  auditedParts: {
    stored: 'audited_parts',
    read: readParts,
    write: (parts) => (parts.size === 0 ? null : JSON.stringify(Object.fromEntries(parts))),
    fresh: new Map(),
    about: 'the fingerprints of months, or of `all`, as the warehouse was seen to have them',
  } as Field<Fingerprints>,
  latestChanges: plain(
    'latest_changes',
    orNull((value) => (readLatestChanges(String(value)) === undefined ? undefined : String(value))),
    null,
    'the latest rows that the delta has reported: a list that lacks them is out of date',
  ),
  wholeRows: plain('whole_rows', rows, null, 'the rows of the last complete read'),
  rowsSoFar: plain('rows_so_far', rows, null, 'the rows of the current one so far'),
  rowsCounted: plain('rows_counted', rows, null, 'the rows of all syncs: no set of ids is larger'),
}

/** The fields of a position; `position.ts` knows what they mean together. */
export const POSITION: { [Name in keyof PositionFields]: Field<PositionFields[Name]> } = {
  phase: plain('phase', readPhase, 'complete', 'the phase of the read'),
  link: plain('link', orNull(text), null, 'the page or the delta link to request next'),
  link_at: plain('link_at', orNull(timeText), null, 'when the service sent it'),
  requested: plain('requested', flag, false, 'whether the delta link may have been requested'),
  slice: plain('slice', orNull(text), null, 'the list that is being read'),
  listing_at: plain('listing_at', orNull(timeText), null, 'when the first list was requested'),
  until: plain('until', orNull(day), null, 'the last day of the lists'),
  window: plain('window', orNull(day), null, "the first day of the delta's window"),
  delta_link: plain('delta_link', orNull(text), null, 'the delta link to follow after the lists'),
  delta_link_at: plain('delta_link_at', orNull(timeText), null, 'when the service sent that one'),
  backfilled_at: plain(
    'backfilled_at',
    orNull(timeText),
    null,
    'when the days before the window were last listed',
  ),
}

/** The fields of the sets of ids; `stored-keys.ts` encodes them. */
export const KEYS: { [Name in keyof Omit<StoredKeys, 'isAtBeginning'>]: Field<StoredKeys[Name]> } =
  {
    highestVersion: plain('change_version', orNull(text), null, 'the highest changeVersion so far'),
    isTracked: plain('tracked', flag, true, 'false once the ids have become too many'),
    window: plain(
      'window_ids',
      orNull(text),
      null,
      "the ids in the delta's window, or in the list",
    ),
    history: plain('backfill_ids', orNull(text), null, 'the ids of the days before the window'),
    pending: {
      stored: 'pending',
      read: readPending,
      write: (pending) => (pending.length === 0 ? null : JSON.stringify(pending)),
      fresh: [],
      about: 'ids that are deleted at the end of the read unless they are found',
    },
    unconfirmed: plain(
      'unconfirmed_ids',
      orNull(text),
      null,
      'ids about which two responses contradict each other',
    ),
    written: plain('written_ids', orNull(text), null, 'ids that were written since the last audit'),
  }

type Value<F> = F extends Field<infer T> ? T : never

/** The values of a stream's state that are neither its position nor its ids. */
export type StateValues = { readonly [Name in keyof typeof STATE]: Value<(typeof STATE)[Name]> }

/** The stored state of a stream, parsed. */
export type StoredState = StateValues & { readonly position: Position; readonly keys: StoredKeys }

/** The stored state of a stream: a flat object. */
export type StateBlob = Readonly<Record<string, unknown>>

const VERSION = 2
const STATE_FIELDS = Object.entries(STATE) as unknown as [keyof StateValues, Field<unknown>][]
const POSITION_FIELDS = Object.entries(POSITION) as unknown as [
  keyof PositionFields,
  Field<unknown>,
][]
const KEY_FIELDS = Object.entries(KEYS) as unknown as [keyof typeof KEYS, Field<unknown>][]

/** The values of a stream that was never read. */
export const FRESH = Object.fromEntries(
  STATE_FIELDS.map(([name, { fresh }]) => [name, fresh]),
) as unknown as StateValues

/** Converts a state to its stored form. */
export function writeState(state: StoredState): StateBlob {
  const blob: Record<string, unknown> = { bookmark_version: VERSION }
  for (const [name, { stored, write }] of STATE_FIELDS) blob[stored] = write(state[name])
  Object.assign(blob, positionFields(state.position))
  for (const [name, { stored, write }] of KEY_FIELDS) blob[stored] = write(state.keys[name])
  return blob
}

/**
 * Parses and checks a stored state, or says why it cannot be used. Null and an empty object mean that the stream was
 * never read or has been reset (Airbyte protocol, "State").
 */
export function readState(blob: unknown): StoredState | 'none' | { readonly unreadable: string } {
  if (blob === undefined || blob === null) return 'none'
  if (typeof blob !== 'object' || Array.isArray(blob)) return { unreadable: 'it is not an object' }
  if (Object.keys(blob).length === 0) return 'none'
  const fields = blob as StateBlob
  if (fields['bookmark_version'] !== VERSION)
    return { unreadable: 'it is of another connector or of an unknown version' }
  const values = readFields(STATE_FIELDS, fields)
  const at = readFields(POSITION_FIELDS, fields)
  const keys = readFields(KEY_FIELDS, fields)
  for (const read of [values, at, keys])
    if (typeof read === 'string') return { unreadable: `its field ${read} is damaged` }
  const state = { ...(values as StateValues), keys: keys as unknown as StoredKeys }
  const position = readPosition({
    ...(at as unknown as PositionFields),
    mode: state.mode,
    start: state.start,
    backfill_ids: state.keys.history,
  })
  if (position === undefined) return { unreadable: 'its fields contradict each other' }
  // Older states do not say it, but the link of a delta implies it.
  const wasDeltaOffered = state.wasDeltaOffered ?? (at['link'] !== null && isOfDelta(position))
  // Without the rows that were written since, which older states do not have, fingerprints prove nothing.
  const auditedParts = 'written_ids' in fields ? state.auditedParts : new Map()
  return { ...state, auditedParts, wasDeltaOffered, position }
}

/** Reads some fields; returns the stored name of the first one that is damaged. */
function readFields<Name extends string>(
  table: readonly (readonly [Name, Field<unknown>])[],
  blob: StateBlob,
): Readonly<Record<Name, unknown>> | string {
  const values = {} as Record<Name, unknown>
  for (const [name, { stored, read }] of table) {
    const value = read(blob[stored] ?? null)
    if (value === undefined) return stored
    values[name] = value
  }
  return values
}

function readMode(value: unknown): Mode | undefined {
  return value === 'incremental' || value === 'full_refresh' ? value : undefined
}

const PHASES: ReadonlySet<unknown> = new Set(['initial', 'backfill', 'changes', 'list', 'complete'])

function readPhase(value: unknown): string | undefined {
  return PHASES.has(value) ? String(value) : undefined
}

function anyNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function readPending(value: unknown): readonly StoredDeletes[] | undefined {
  if (value === null) return []
  try {
    const groups: unknown = JSON.parse(String(value))
    return Array.isArray(groups) && groups.every(isDeletes) ? groups : undefined
  } catch {
    return undefined
  }
}

function isDeletes(group: unknown): group is StoredDeletes {
  const { keys, isUnseen } = (group ?? {}) as StateBlob
  return typeof keys === 'string' && typeof isUnseen === 'boolean'
}

function readParts(value: unknown): Fingerprints | undefined {
  try {
    const parts = Object.entries((JSON.parse(String(value ?? '{}')) ?? {}) as object)
    return parts.every(([, print]) => typeof print === 'string') ? new Map(parts) : undefined
  } catch {
    return undefined
  }
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
