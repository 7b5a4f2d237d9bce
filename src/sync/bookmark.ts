import { BOOKMARK_FIELDS, type Bookmark } from './bookmark-fields.ts'
import { fromVersion1 } from './bookmark-version-1.ts'
import type { Day } from './days.ts'
import type { StoredDeletes, StoredKeys } from './live-keys.ts'
import type { Position } from './position.ts'
import { positionFields, readPosition } from './position-fields.ts'

export type Mode = 'full_refresh' | 'incremental'

/** What is stored of the reading of a stream. */
export interface StoredReading {
  readonly mode: Mode
  /** The warehouse is a copy of this service: tenant, address and API name. */
  readonly service: string
  /** A digest of the settings that shape the records: external references, activity structures. */
  readonly settings: string
  /** The first day that the warehouse stands for; null for streams whose records have no day. */
  readonly start: Day | null
  /** Seconds since 1970 at the beginning of the present complete reading; rises with each. */
  readonly generation: number
  /** True once everything of this generation has been written, the deletes of what is missing included. */
  readonly isSettled: boolean
  /**
   * True when rows of older generations are gone once this one is settled: not where the warehouse
   * may hold another service's rows, or days that cannot be read any more.
   */
  readonly replacesOlder: boolean
  readonly position: Position
  readonly keys: StoredKeys
  /** How many rows the last complete reading had; null where none was counted. */
  readonly wholeRows: number | null
  /** How many rows the present complete reading has had so far; null once it is settled. */
  readonly rowsSoFar: number | null
}

const PHASES: ReadonlySet<string> = new Set(['initial', 'backfill', 'changes', 'list', 'complete'])
const DAY = /^\d{4}-\d{2}-\d{2}$/
/** Generations are seconds since 1970; a larger one is none of ours, and leaves no room for the next. */
const MAX_GENERATION = 2 ** 32

/** The bookmark of a reading. */
export function writeBookmark(reading: StoredReading): Bookmark {
  const { mode, service, settings, start, generation, isSettled, replacesOlder, keys } = reading
  return {
    bookmark_version: 2,
    mode,
    service,
    settings,
    start,
    generation,
    settled: isSettled,
    replaces: replacesOlder,
    ...positionFields(reading.position),
    change_version: keys.highestVersion,
    tracked: keys.isTracked,
    window_ids: keys.window,
    backfill_ids: keys.backfill,
    pending: keys.pending.length === 0 ? null : JSON.stringify(keys.pending),
    whole_rows: reading.wholeRows,
    rows_so_far: reading.rowsSoFar,
  }
}

/**
 * Believes a stored blob, or says in words why not. Null and an empty object mean that the stream
 * was never read or has been reset (Airbyte protocol, "State").
 */
export function readBookmark(
  blob: unknown,
): StoredReading | 'none' | { readonly unreadable: string } {
  if (blob === undefined || blob === null) return 'none'
  if (typeof blob !== 'object' || Array.isArray(blob)) return { unreadable: 'it is not an object' }
  if (Object.keys(blob).length === 0) return 'none'
  const fields = renewed(blob as Fields)
  if (fields['bookmark_version'] !== 2) {
    return { unreadable: 'it is of another connector or of an unknown version' }
  }
  const damaged = damagedType(fields) ?? damagedValue(fields as unknown as Bookmark)
  if (damaged !== undefined) return { unreadable: `its field ${damaged} is damaged` }
  const bookmark = fields as unknown as Bookmark
  const pending = readPending(bookmark.pending)
  if (pending === undefined) return { unreadable: 'its field pending is damaged' }
  const position = readPosition(bookmark)
  if (position === undefined) return { unreadable: 'its fields contradict each other' }
  return {
    mode: bookmark.mode as Mode,
    service: bookmark.service,
    settings: bookmark.settings,
    start: bookmark.start,
    generation: bookmark.generation,
    isSettled: bookmark.settled,
    replacesOlder: bookmark.replaces,
    position,
    keys: {
      highestVersion: bookmark.change_version,
      isTracked: bookmark.tracked,
      window: bookmark.window_ids,
      backfill: bookmark.backfill_ids,
      pending,
    },
    wholeRows: count(bookmark.whole_rows),
    rowsSoFar: count(bookmark.rows_so_far),
  }
}

/** Only progress depends on a count: one that is none is not known, and nothing else is in doubt. */
function count(stored: number | null): number | null {
  return Number.isSafeInteger(stored) && Number(stored) >= 0 ? stored : null
}

type Fields = Readonly<Record<string, unknown>>

/** Every field of a bookmark, null where the blob has none; one of version 1 in today's words. */
function renewed(blob: Fields): Fields {
  const fields = blob['bookmark_version'] === 1 ? { ...blob, ...fromVersion1(blob) } : blob
  return Object.fromEntries(
    Object.keys(BOOKMARK_FIELDS).map((name) => [name, fields[name] ?? null]),
  )
}

function damagedType(fields: Fields): string | undefined {
  const found = Object.entries(BOOKMARK_FIELDS).find(([name, kind]) => {
    const value = fields[name]
    return value === null ? !kind.endsWith('?') : typeof value !== kind.replace('?', '')
  })
  return found?.[0]
}

/** The first field with a value of the right type that means nothing. */
function damagedValue(bookmark: Bookmark): string | undefined {
  const { mode, phase, generation } = bookmark
  if (mode !== 'incremental' && mode !== 'full_refresh') return 'mode'
  if (!PHASES.has(phase)) return 'phase'
  if (!Number.isInteger(generation) || generation < 0 || generation > MAX_GENERATION)
    return 'generation'
  const days = ['start', 'until', 'window'] as const
  const times = ['link_at', 'listing_at', 'delta_link_at', 'backfilled_at'] as const
  return (
    days.find((name) => bookmark[name] !== null && !isDay(bookmark[name])) ??
    times.find((name) => bookmark[name] !== null && Number.isNaN(Date.parse(bookmark[name])))
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
  const { keys, version, isUnseen } = (group ?? {}) as Fields
  const isVersion = version === null || typeof version === 'string'
  return typeof keys === 'string' && isVersion && typeof isUnseen === 'boolean'
}

/**
 * A stored blob for a stream that is to be read from the beginning: it starts over, and deletes what it
 * does not meet.
 */
export function startingOver(blob: unknown): unknown {
  return typeof blob === 'object' && blob !== null ? { ...blob, settings: 'reset' } : blob
}

/** How many characters of a stored blob are sets of ids. */
export function storedCharacters(blob: unknown): number {
  const stored = readBookmark(blob)
  if (stored === 'none' || 'unreadable' in stored) return 0
  const { window, backfill, pending } = stored.keys
  const sets = [window, backfill, ...pending.map(({ keys }) => keys)]
  return sets.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

/** Whether a stored blob continues a delta. */
export function continuesDelta(blob: unknown): boolean {
  const stored = readBookmark(blob)
  if (stored === 'none' || 'unreadable' in stored) return false
  return stored.position.phase !== 'list' && stored.position.phase !== 'complete'
}

function isDay(text: string | null): boolean {
  const time = DAY.test(text ?? '') ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text ?? '')
}
