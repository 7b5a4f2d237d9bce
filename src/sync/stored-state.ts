import { createHash } from 'node:crypto'
import { earlier, LATEST_SECONDS } from '../ground/days.ts'
import { createIdSet, type IdSet } from '../rows/id-set.ts'
import { LATEST_CHANGES } from '../rows/latest-changes.ts'
import type { Fingerprints } from '../rows/listed-parts.ts'
import type { StoredDeletes, StoredKeys } from '../rows/stored-keys.ts'
import { LOSSES } from './losses.ts'
import {
  isOfDelta,
  LIST,
  POSITION,
  type Position,
  positionFields,
  readPosition,
} from './position.ts'
import {
  day,
  fieldTable,
  flag,
  integer,
  type JsonForm,
  jsonText,
  moment,
  oneOf,
  or,
  plain,
  rows,
  type StateBlob,
  text,
  type ValuesOf,
} from './state-fields.ts'

/**
 * The highest cursor of a state. Cursors are about microseconds since 1970, so that a sync which begins below it can
 * still count on.
 */
const MAX_CURSOR = 2 ** 53 - 2 ** 50

const PARTS: JsonForm<Fingerprints> = {
  toJson: (parts) => (parts.size === 0 ? null : Object.fromEntries(parts)),
  parse(json) {
    const parts = Object.entries(json as object)
    return parts.every(([, print]) => typeof print === 'string') ? new Map(parts) : undefined
  },
}

const PENDING: JsonForm<readonly StoredDeletes[]> = {
  toJson: (pending) => (pending.length === 0 ? null : pending),
  parse(json) {
    const groups = json as StoredDeletes[]
    const isWhole = groups.every(
      ({ keys, isUnseen }) => typeof keys === 'string' && typeof isUnseen === 'boolean',
    )
    return isWhole ? groups : undefined
  },
}

/**
 * The fields of the state of a stream: reading, checking and writing follow from this table, as do the types and the page
 * for developers. A state is flat, always has the same keys, and has null for what is missing, because some platforms
 * merge states key by key.
 */
export const STATE = fieldTable({
  mode: plain('mode', oneOf('incremental', 'full_refresh'), 'incremental', 'the sync mode'),
  refresh: plain('refresh', or(null, anyNumber), null, 'the generation_id of a full refresh'),
  service: plain('service', text, '', 'the tenant, address and API name that the rows are of'),
  environment: plain('environment', or(null, text), null, 'the environment of the tenant'),
  settings: plain('settings', text, '', 'a digest of references, activity structures, privacy'),
  fields: plain(
    'fields',
    or(null, text),
    null,
    'digests of the fields of the records; `*` for any',
  ),
  start: plain('start', or(null, day), null, 'the first day of the warehouse; null without days'),
  leftFrom: plain(
    'left_from',
    or(null, day),
    null,
    'the first of the days that are no longer kept and have left since the last complete read without withheld deletes',
  ),
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
    'whether all of the generation is written, deletes included',
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
    'whether a complete read may have missed rows, so that a list is due',
  ),
  wasDeltaOffered: plain(
    'delta_offered',
    or(null, flag),
    false,
    'whether the service has responded to a delta: if it refuses one later, that is temporary',
  ),
  wasListOffered: plain(
    'list_offered',
    or(false, flag),
    false,
    'whether the service has responded to a list: if it refuses one later, that is temporary',
  ),
  leavingFrom: plain(
    'leaving_from',
    or(null, day),
    null,
    'the first day whose rows are leaving because days before `start` are no longer kept; null if none are',
  ),
  listedUntil: plain('listed_until', or(null, day), null, 'the last day of any list so far'),
  auditedAt: moment('audited_at', 'when the last audit began, also one that failed'),
  mayLackChanges: plain(
    'may_lack_changes',
    or(false, flag),
    false,
    'whether a delta link was requested again because the response was lost: an audit is due',
  ),
  comparedAt: moment(
    'compared_at',
    'when the last comparison with lists began, also one that failed',
  ),
  auditedParts: jsonText(
    'audited_parts',
    PARTS,
    new Map(),
    'the fingerprints of months, or of `all`, as the warehouse was seen to have them',
  ),
  withheldSince: moment(
    'withheld_since',
    'since when rows are kept although no read finds them, because they are too many',
  ),
  losses: jsonText(
    'losses',
    LOSSES,
    null,
    'for each part of the stream its rows, and by day those that were deleted because no read found them',
  ),
  haveOtherKeys: plain(
    'other_keys',
    or(false, flag),
    false,
    'whether a changed setting gives all rows other keys in the current read',
  ),
  isSuppressionNew: plain(
    'suppression_new',
    or(false, flag),
    false,
    'whether a changed setting may leave out other people in the current read: rows that no state knows are deleted, too',
  ),
  latestChanges: jsonText(
    'latest_changes',
    LATEST_CHANGES,
    new Map(),
    'the latest rows that the delta has reported: a list that lacks them is out of date',
  ),
  wholeRows: plain('whole_rows', rows, null, 'the rows of the last complete read'),
  rowsSoFar: plain('rows_so_far', rows, null, 'the rows of the current one so far'),
  rowsCounted: plain('rows_counted', rows, null, 'the rows of all syncs: no set of ids is larger'),
})

/** The fields of the sets of ids; `stored-keys.ts` encodes them. */
export const KEYS = fieldTable({
  highestVersion: plain('change_version', or(null, text), null, 'the highest changeVersion so far'),
  isTracked: plain('tracked', flag, true, 'false once the ids have become too many'),
  window: plain(
    'window_ids',
    or(null, text),
    null,
    "the ids in the delta's window, or in the list",
  ),
  history: plain('backfill_ids', or(null, text), null, 'the ids of the days before the window'),
  pending: jsonText(
    'pending',
    PENDING,
    [],
    'ids that are deleted at the end of the read unless they are found',
  ),
  unconfirmed: plain(
    'unconfirmed_ids',
    or(null, text),
    null,
    'ids about which two responses contradict each other',
  ),
  written: plain('written_ids', or(null, text), null, 'ids that were written since the last audit'),
})

/** The values of a stream's state that are neither its position nor its ids. */
export type StateValues = ValuesOf<typeof STATE.fields>

/** The state of a stream without its ids. */
export type UnkeyedState = StateValues & { readonly position: Position }

/** The stored state of a stream, parsed. */
export type StoredState = UnkeyedState & { readonly keys: StoredKeys }

const VERSION = 2

/** The values of a stream that was never read. */
export const FRESH: StateValues = STATE.fresh

/** Converts a state to its stored form. */
export function writeState(state: UnkeyedState, keys: StoredKeys): StateBlob {
  return filled({ ...BLANK }, state, keys)
}

/**
 * What JSON.parse returns keeps its form, so that copies are filled, and become text, several times faster than an object
 * to which one field after the other is added.
 */
const BLANK = JSON.parse(JSON.stringify(filled({}, { ...FRESH, position: LIST }, KEYS.fresh)))

function filled(
  blob: Record<string, unknown>,
  state: UnkeyedState,
  keys: StoredKeys,
): Record<string, unknown> {
  blob['bookmark_version'] = VERSION
  STATE.write(state, blob)
  POSITION.write(positionFields(state.position), blob)
  KEYS.write(keys, blob)
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
  const values = STATE.read(fields)
  const at = POSITION.read(fields)
  const keys = KEYS.read(fields)
  const damaged = [values, at, keys].find((read) => typeof read === 'string')
  if (typeof values === 'string' || typeof at === 'string' || typeof keys === 'string')
    return { unreadable: `its field ${damaged} is damaged` }
  const { mode, start, leavingFrom } = values
  const position = readPosition(at, {
    mode,
    start: earlier(start, leavingFrom),
    hasHistoryIds: keys.history !== null,
  })
  if (position === undefined) return { unreadable: 'its fields contradict each other' }
  // Older states do not say it, but the link of a delta implies it.
  const wasDeltaOffered = values.wasDeltaOffered ?? (at.link !== null && isOfDelta(position))
  // Without the rows that were written since, which older states do not have, fingerprints prove nothing.
  const auditedParts = 'written_ids' in fields ? values.auditedParts : new Map()
  return { ...values, keys, auditedParts, wasDeltaOffered, position }
}

/** The rows that are kept although no read finds them; see `withheldSince`. */
export function withheldIn({ withheldSince, keys }: StoredState): Pick<IdSet, 'has'> {
  return createIdSet(withheldSince === null ? null : keys.unconfirmed)
}

function anyNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** Any field, including fields that are in no schema. */
const ANY = '*'
/** The length of a field's digest: even among hundreds of fields, hardly ever two have the same one. */
const LENGTH = 5

/** The fields of a stream as its state stores them: a digest of each path, or `*` for any field. */
export function fieldDigests(fields: readonly string[] | undefined): string {
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
