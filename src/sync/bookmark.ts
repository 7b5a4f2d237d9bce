/** What a stream is being read for; a bookmark says where the next sync goes on. */
export type Part =
  /** The first phase of a delta: everything in its window. */
  | 'load'
  /** The lists of what is older than the delta's window (design D2, D16). */
  | 'history'
  /** The second phase: the delta link, over and over. */
  | 'changes'
  /** A whole list, of a stream without a delta or of a full refresh. */
  | 'list'
  /** A whole list that is complete: the next sync begins another one. */
  | 'listed'

/**
 * The state of one stream: flat, with constant keys, null for what is not there, because some
 * platforms merge states key by key (design D6).
 */
export interface Bookmark {
  readonly bookmark_version: 1
  readonly mode: 'full_refresh' | 'incremental'
  /** The warehouse is a copy of this service: tenant, address and API name. */
  readonly service: string
  /** A digest of the settings that shape the records: external references, activity structures. */
  readonly settings: string
  /** The first day that the warehouse stands for, YYYY-MM-DD; null for undated streams. */
  readonly start: string | null
  /** Seconds since 1970 at the beginning of the present complete reading; rises with each. */
  readonly generation: number
  /** True once everything of this generation is handed over, the deletes of what is missing included. */
  readonly settled: boolean
  /**
   * True when rows of older generations are gone once this one is settled: not where the warehouse
   * may hold another service's rows, or days that cannot be read any more.
   */
  readonly replaces: boolean
  readonly part: Part
  /** The link to follow next; null begins the part, or its slice. */
  readonly link: string | null
  /** When the service sent `link`, in its time. */
  readonly link_at: string | null
  /** True from just before a delta link is asked until its answer is handed over. */
  readonly asked: boolean
  /** The slice of a list that is being read, by its key. */
  readonly slice: string | null
  /** When that list was begun, in the service's time. */
  readonly listing_at: string | null
  /** The last day of the lists that are being read. */
  readonly until: string | null
  /** The first day of the delta's window. */
  readonly window: string | null
  /** The delta link to come back to after the history, and when the service sent it. */
  readonly delta_link: string | null
  readonly delta_link_at: string | null
  /** When the last whole listing of the history began, in the service's time. */
  readonly history_at: string | null
  /** The highest changeVersion that was ever handed over. */
  readonly change_version: string | null
  /** False above the bound of the id sets: deletes are then not derived (design D5). */
  readonly tracked: boolean
  /** Ids that live in the delta's window, or in the list. */
  readonly live: string | null
  /** Ids that live in the history. */
  readonly history: string | null
  /** Ids that the warehouse may hold and the present reading has not met yet. */
  readonly unconfirmed: string | null
  readonly unconfirmed_version: string | null
  /** Ids whose last word in the warehouse may be wrong unless this reading meets them. */
  readonly suspects: string | null
  readonly suspects_version: string | null
}

const SETS = ['live', 'history', 'unconfirmed', 'suspects'] as const

/** How many characters of a stored blob are sets of ids. */
export function storedCharacters(blob: unknown): number {
  const fields = (blob ?? {}) as Record<string, unknown>
  const lengths = SETS.map((name) => (typeof fields[name] === 'string' ? fields[name].length : 0))
  return lengths.reduce((sum, length) => sum + length, 0)
}

/** Whether a stored blob continues a delta. */
export function isDeltaStored(blob: unknown): boolean {
  const { part } = (blob ?? {}) as Record<string, unknown>
  return part === 'load' || part === 'history' || part === 'changes'
}

type Kind = 'string' | 'number' | 'boolean'

/** The type of each field; null is allowed where `?` stands. Checked before a blob is believed. */
const FIELDS: Readonly<Record<keyof Bookmark, Kind | `${Kind}?`>> = {
  bookmark_version: 'number',
  mode: 'string',
  service: 'string',
  settings: 'string',
  start: 'string?',
  generation: 'number',
  settled: 'boolean',
  replaces: 'boolean',
  part: 'string',
  link: 'string?',
  link_at: 'string?',
  asked: 'boolean',
  slice: 'string?',
  listing_at: 'string?',
  until: 'string?',
  window: 'string?',
  delta_link: 'string?',
  delta_link_at: 'string?',
  history_at: 'string?',
  change_version: 'string?',
  tracked: 'boolean',
  live: 'string?',
  history: 'string?',
  unconfirmed: 'string?',
  unconfirmed_version: 'string?',
  suspects: 'string?',
  suspects_version: 'string?',
}

const PARTS: ReadonlySet<string> = new Set<Part>(['load', 'history', 'changes', 'list', 'listed'])
const DAY = /^\d{4}-\d{2}-\d{2}$/
/** Generations are seconds since 1970; a larger one is none of ours, and would not leave room for the next. */
const MAX_GENERATION = 2 ** 32

/**
 * Believes a stored blob, or says in words why not. Null and an empty object mean that the stream
 * was never read or has been reset (airbyte-protocol, State).
 */
export function parseBookmark(blob: unknown): Bookmark | 'none' | { readonly unreadable: string } {
  if (blob === undefined || blob === null) return 'none'
  if (typeof blob !== 'object' || Array.isArray(blob)) return { unreadable: 'it is not an object' }
  const fields = blob as Record<string, unknown>
  if (Object.keys(fields).length === 0) return 'none'
  if (fields['bookmark_version'] !== 1) {
    return { unreadable: 'it is of another connector or of an unknown version' }
  }
  for (const [name, kind] of Object.entries(FIELDS)) {
    const value = fields[name] ?? null
    const isOptional = kind.endsWith('?')
    if (value === null ? !isOptional : typeof value !== kind.replace('?', '')) {
      return { unreadable: `its field ${name} is damaged` }
    }
  }
  const bookmark = Object.fromEntries(
    Object.keys(FIELDS).map((name) => [name, fields[name] ?? null]),
  ) as unknown as Bookmark
  const damaged = damagedField(bookmark)
  if (damaged !== undefined) return { unreadable: `its field ${damaged} is damaged` }
  if (!isConsistent(bookmark)) return { unreadable: 'its fields contradict each other' }
  return bookmark
}

/** The first field with a value of the right type that means nothing. */
function damagedField(bookmark: Bookmark): keyof Bookmark | undefined {
  if (bookmark.mode !== 'incremental' && bookmark.mode !== 'full_refresh') return 'mode'
  if (!PARTS.has(bookmark.part)) return 'part'
  const { generation } = bookmark
  if (!Number.isInteger(generation) || generation < 0 || generation > MAX_GENERATION)
    return 'generation'
  const days = ['start', 'until', 'window'] as const
  const times = ['link_at', 'listing_at', 'delta_link_at', 'history_at'] as const
  return (
    days.find((name) => bookmark[name] !== null && !isDay(bookmark[name])) ??
    times.find((name) => bookmark[name] !== null && Number.isNaN(Date.parse(bookmark[name])))
  )
}

/** Whether the bookmark says of its part what that part needs, and nothing that it cannot have. */
function isConsistent(bookmark: Bookmark): boolean {
  const { mode, part, start, window, until, link, slice, delta_link, history } = bookmark
  const isList = part === 'list' || part === 'listed'
  if (mode === 'full_refresh' && !isList) return false
  // Only what is dated has a window, and only what began before its window has a history.
  const isWindowed = (start === null) === (window === null)
  const hasHistory = start !== null && window !== null && start < window
  if (history !== null && !isList && !hasHistory) return false
  switch (part) {
    case 'load':
      return link === null || isWindowed
    case 'history':
      return hasHistory && delta_link !== null && isListing()
    case 'changes':
      return link !== null && isWindowed
    case 'list':
      return isListing() || (link === null && slice === null && until === null)
    case 'listed':
      return link === null && slice === null
  }

  function isListing(): boolean {
    const isInSlice = link === null || slice !== null
    return until !== null && isInSlice && (start === null || start <= until)
  }
}

function isDay(text: string | null): boolean {
  const time = DAY.test(text ?? '') ? Date.parse(`${text}T00:00:00Z`) : Number.NaN
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text ?? '')
}
