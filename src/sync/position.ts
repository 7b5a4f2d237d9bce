import { addDays, type Day } from '../ground/days.ts'

/** A link of the service, and the service's time when it was sent; null if the state does not have the time. */
export interface Link {
  readonly url: string
  readonly at: Date | null
}

/** The first phase of a delta: all rows in its window. */
export interface Initial {
  readonly phase: 'initial'
  /** The next page to read; null starts the delta. */
  readonly page: Link | null
  /** The first day of the delta's window; null for streams without dates, or before the start. */
  readonly window: Day | null
  /** Whether an earlier process may have used a link of this delta. */
  readonly maybeConsumed: boolean
}

/** The second phase of a delta: following the delta link, at each sync. */
export interface Changes {
  readonly phase: 'changes'
  /** The delta link, or the next page of its answer. */
  readonly delta: Link
  /** True from just before the link is requested until its answer has been written. */
  readonly requested: boolean
  /** Whether an earlier process may have used the link. */
  readonly maybeConsumed: boolean
  readonly window: Day | null
  /** When the days before the window were last listed, in the service's time; null if that is due. */
  readonly historyAt: Date | null
}

/** Lists: of a stream without a delta, of a full refresh, or of the days before a delta's window. */
export interface List {
  readonly phase: 'list'
  /** The key of the slice that is being read, and its page; null for the first one. */
  readonly slice: string | null
  readonly page: Link | null
  /** The last day of the lists; null before the list begins. */
  readonly until: Day | null
  /** Set for the days before the window. */
  readonly history: History | null
}

/** What belongs to the lists of the days before a delta's window. */
interface History {
  /** When the first list was requested, in the service's time; null before that. */
  readonly begunAt: Date | null
  /** The changes to read afterwards. */
  readonly changes: Changes
}

/** Everything of this sync has been read. The next sync follows the changes or reads the list again. */
interface Complete {
  readonly phase: 'complete'
  readonly next: Changes | 'list'
}

/** How far the reading of a stream has come. */
export type Position = Initial | Changes | List | Complete

export const INITIAL: Initial = {
  phase: 'initial',
  page: null,
  window: null,
  maybeConsumed: false,
}

export const LIST: List = { phase: 'list', slice: null, page: null, until: null, history: null }

/** The lists of the days before the window of a delta that was started. */
export function historyOf(changes: Changes): List {
  const until = addDays(changes.window ?? '', -1)
  return { ...LIST, until, history: { begunAt: null, changes } }
}

/** The changes with which a delta goes on after this sync; undefined if the stream is listed, or not yet read. */
export function changesAfter(position: Position): Changes | undefined {
  return position.phase === 'complete' && position.next !== 'list' ? position.next : undefined
}

/** Whether a delta was begun, whose links the position continues with. */
export function isOfDelta(position: Position): boolean {
  const { phase } = position
  return (
    phase === 'initial' || phase === 'changes' || (phase === 'list' && position.history !== null)
  )
}

/** The fields of a stored state for the position. */
export interface PositionFields {
  /**
   * The phase of `Position`; `backfill` for the lists of the days before the window. A complete position that continues
   * with its changes is stored as `changes`.
   */
  readonly phase: string
  /** The page or the delta link to request next. */
  readonly link: string | null
  readonly link_at: string | null
  readonly requested: boolean
  readonly slice: string | null
  readonly listing_at: string | null
  readonly until: string | null
  readonly window: string | null
  /** The delta link that is followed after the lists of the days before the window. */
  readonly delta_link: string | null
  readonly delta_link_at: string | null
  readonly backfilled_at: string | null
}

/** Other fields of the state that limit the possible positions. */
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

/** Converts a position to fields. A complete position that continues with its changes is stored as these changes. */
export function positionFields(position: Position): PositionFields {
  const { phase } = position
  switch (phase) {
    case 'initial':
      return { ...NOWHERE, phase, ...linkFields(position.page), window: position.window }
    case 'changes':
      return {
        ...NOWHERE,
        phase,
        ...linkFields(position.delta),
        requested: position.requested,
        window: position.window,
        backfilled_at: textOf(position.historyAt),
      }
    case 'list':
      return {
        ...NOWHERE,
        phase: position.history === null ? phase : 'backfill',
        ...linkFields(position.page),
        slice: position.slice,
        until: position.until,
        ...historyFields(position.history),
      }
    case 'complete':
      return position.next === 'list' ? NOWHERE : positionFields(position.next)
  }
}

function historyFields(history: History | null): Partial<PositionFields> {
  if (history === null) return {}
  const { begunAt, changes } = history
  return {
    listing_at: textOf(begunAt),
    window: changes.window,
    delta_link: changes.delta.url,
    delta_link_at: textOf(changes.delta.at),
  }
}

/** Restores a position; undefined if the fields lack something that the phase needs, or contradict each other. */
export function readPosition(stored: PositionFields & Surroundings): Position | undefined {
  const { mode, phase, start, window, until, slice, requested } = stored
  const isList = phase === 'list' || phase === 'complete'
  if (mode === 'full_refresh' && !isList) return undefined
  // Only streams with dates have a window, and only a start before it has days before the window.
  const isWindowed = (start === null) === (window === null)
  const hasHistory = start !== null && window !== null && start < window
  if (stored.backfill_ids !== null && !isList && !hasHistory) return undefined
  const page = readLink(stored.link, stored.link_at)
  const isListing = until !== null && (page === null || slice !== null) && (start ?? '') <= until
  const changes = (delta: Link): Changes => ({
    phase: 'changes',
    delta,
    requested: phase === 'changes' && requested,
    // After an interrupted first read, its link may have been requested, too.
    maybeConsumed: phase === 'changes' ? requested : true,
    window,
    historyAt: readTime(stored.backfilled_at),
  })
  switch (phase) {
    case 'initial':
      return page === null || isWindowed
        ? { phase, page, window, maybeConsumed: page !== null }
        : undefined
    case 'backfill': {
      const delta = readLink(stored.delta_link, stored.delta_link_at)
      if (!hasHistory || delta === null || !isListing) return undefined
      const history = { begunAt: readTime(stored.listing_at), changes: changes(delta) }
      return { phase: 'list', slice, page, until, history }
    }
    case 'changes':
      return page !== null && isWindowed ? changes(page) : undefined
    case 'list':
      return isListing || (page === null && slice === null && until === null)
        ? { phase, slice, page, until, history: null }
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
