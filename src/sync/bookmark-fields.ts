/**
 * The state of one stream as it is stored: flat, with constant keys, null for what is not there,
 * because some platforms merge states key by key.
 */
export interface Bookmark {
  readonly bookmark_version: 2
  readonly mode: string
  readonly service: string
  readonly settings: string
  readonly start: string | null
  readonly generation: number
  readonly settled: boolean
  readonly replaces: boolean
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
  /** For the progress of the next sync; older bookmarks have neither. */
  readonly whole_rows: number | null
  readonly rows_so_far: number | null
}

type Kind = 'string' | 'number' | 'boolean'

/** The type of each field; null is allowed where `?` stands. Checked before a blob is believed. */
export const BOOKMARK_FIELDS: Readonly<Record<keyof Bookmark, Kind | `${Kind}?`>> = {
  bookmark_version: 'number',
  mode: 'string',
  service: 'string',
  settings: 'string',
  start: 'string?',
  generation: 'number',
  settled: 'boolean',
  replaces: 'boolean',
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
}
