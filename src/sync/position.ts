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

/** What a stored state says of the position. */
export interface PositionFields {
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
}

/** What else says which positions there can be. */
interface Surroundings {
  readonly mode: string
  readonly start: string | null
  readonly backfill_ids: string | null
}

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
export function positionFields(position: Position): PositionFields {
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
export function readPosition(stored: PositionFields & Surroundings): Position | undefined {
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

function linkFields(link: Link | null): Pick<PositionFields, 'link' | 'link_at'> {
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
