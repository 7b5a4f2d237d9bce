import type { Day } from './days.ts'

/** A link that the service sent, and when it did, in its time; null where an older bookmark says nothing. */
export interface Link {
  readonly url: string
  readonly at: Date | null
}

/** The first phase of a delta: everything in its window. */
export interface Initial {
  readonly phase: 'initial'
  /** The page to read next; null starts the delta. */
  readonly page: Link | null
  /** The first day of the delta's window; null where records have no day, or before the start. */
  readonly window: Day | null
  /** True when an earlier process may have used up a link of this delta. */
  readonly maybeConsumed: boolean
}

/** The lists of the days before the delta's window, which no delta watches. */
export interface Backfill {
  readonly phase: 'backfill'
  /** The slice that is being read, by its key, and its page; null for the first. */
  readonly slice: string | null
  readonly page: Link | null
  /** The last day of the lists. */
  readonly until: Day
  /** When the listing began, in the service's time; null before that. */
  readonly begunAt: Date | null
  /** The changes to read afterwards. */
  readonly changes: Changes
}

/** The second phase of a delta: the delta link, at each sync. */
export interface Changes {
  readonly phase: 'changes'
  /** The delta link, or a next page of its answer. */
  readonly delta: Link
  /** True from just before the link is requested until its answer has been written. */
  readonly requested: boolean
  /** True when an earlier process may have used the link up. */
  readonly maybeConsumed: boolean
  readonly window: Day | null
  /** When the last whole backfill began, in the service's time; null when one is due. */
  readonly backfilledAt: Date | null
}

/** A whole list: of a stream without a delta, or of a full refresh. */
export interface List {
  readonly phase: 'list'
  readonly slice: string | null
  readonly page: Link | null
  /** The last day of the lists; null before the list begins. */
  readonly until: Day | null
}

/** Everything of this sync has been read. The next one follows the changes, or reads the list again. */
interface Complete {
  readonly phase: 'complete'
  readonly next: Changes | 'list'
}

/** Where the reading of a stream stands. */
export type Position = Initial | Backfill | Changes | List | Complete

export const INITIAL: Initial = {
  phase: 'initial',
  page: null,
  window: null,
  maybeConsumed: false,
}

export const LIST: List = { phase: 'list', slice: null, page: null, until: null }
