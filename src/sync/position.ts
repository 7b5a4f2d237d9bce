import { addDays, type Day, isLater } from '../ground/days.ts'
import {
  day,
  fieldTable,
  flag,
  moment,
  oneOf,
  or,
  plain,
  text,
  type ValuesOf,
} from './state-fields.ts'

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

/** Whether a stream includes days before its delta's window, which only lists cover. */
export function hasHistory(start: Day | null, window: Day | null): boolean {
  return isLater(window, start)
}

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

/**
 * The fields of a position in the stored state. Its phase is `backfill` for the lists of the days before the window, and a
 * complete position that continues with its changes is stored as `changes`.
 */
export const POSITION = fieldTable({
  phase: plain(
    'phase',
    oneOf('initial', 'backfill', 'changes', 'list', 'complete'),
    'complete',
    'the phase of the read',
  ),
  link: plain('link', or(null, text), null, 'the page or the delta link to request next'),
  linkAt: moment('link_at', 'when the service sent it'),
  requested: plain('requested', flag, false, 'whether the delta link may have been requested'),
  slice: plain('slice', or(null, text), null, 'the list that is being read'),
  listingAt: moment('listing_at', 'when the first list was requested'),
  until: plain('until', or(null, day), null, 'the last day of the lists'),
  window: plain('window', or(null, day), null, "the first day of the delta's window"),
  deltaLink: plain('delta_link', or(null, text), null, 'the delta link to follow after the lists'),
  deltaLinkAt: moment('delta_link_at', 'when the service sent that one'),
  historyAt: moment('backfilled_at', 'when the days before the window were last listed'),
})

type PositionFields = ValuesOf<typeof POSITION.fields>

const NOWHERE = POSITION.fresh

/** Converts a position to its fields. */
export function positionFields(position: Position): PositionFields {
  const { phase } = position
  switch (phase) {
    case 'initial':
      return { ...NOWHERE, phase, ...linkFields(position.page), window: position.window }
    case 'changes': {
      const { delta, requested, window, historyAt } = position
      return { ...NOWHERE, phase, ...linkFields(delta), requested, window, historyAt }
    }
    case 'list': {
      const { page, slice, until, history } = position
      const listing = { ...NOWHERE, phase, ...linkFields(page), slice, until }
      if (history === null) return listing
      const { delta, window } = history.changes
      const after = { deltaLink: delta.url, deltaLinkAt: delta.at, window }
      return { ...listing, phase: 'backfill', listingAt: history.begunAt, ...after }
    }
    case 'complete':
      return position.next === 'list' ? NOWHERE : positionFields(position.next)
  }
}

/** Other values of the state that limit the possible positions. */
interface Surroundings {
  readonly mode: string
  readonly start: Day | null
  /** Whether it has ids of days before the window. */
  readonly hasHistoryIds: boolean
}

/** Restores a position; undefined if the fields lack something that the phase needs, or contradict each other. */
export function readPosition(
  fields: PositionFields,
  { mode, start, hasHistoryIds }: Surroundings,
): Position | undefined {
  const { phase, window, until, slice, requested, historyAt, listingAt } = fields
  const isList = phase === 'list' || phase === 'complete'
  if (mode === 'full_refresh' && !isList) return undefined
  // Only streams with dates have a window, and only a start before it has days before the window.
  const isWindowed = (start === null) === (window === null)
  const isWithHistory = hasHistory(start, window)
  if (hasHistoryIds && !isList && !isWithHistory) return undefined
  const page = linkOf(fields.link, fields.linkAt)
  const isListing = until !== null && (page === null || slice !== null) && (start ?? '') <= until
  const changes = (delta: Link): Changes => ({
    phase: 'changes',
    delta,
    requested: phase === 'changes' && requested,
    // After an interrupted first read, its link may have been requested, too.
    maybeConsumed: phase === 'changes' ? requested : true,
    window,
    historyAt,
  })
  switch (phase) {
    case 'initial':
      return page === null || isWindowed
        ? { phase, page, window, maybeConsumed: page !== null }
        : undefined
    case 'backfill': {
      const delta = linkOf(fields.deltaLink, fields.deltaLinkAt)
      if (!isWithHistory || delta === null || !isListing) return undefined
      const history = { begunAt: listingAt, changes: changes(delta) }
      return { phase: 'list', slice, page, until, history }
    }
    case 'changes':
      return page !== null && isWindowed ? changes(page) : undefined
    case 'list':
      return isListing || (page === null && slice === null && until === null)
        ? { phase, slice, page, until, history: null }
        : undefined
    case 'complete':
      return page === null && slice === null ? { phase, next: 'list' } : undefined
  }
}

function linkFields(link: Link | null): Pick<PositionFields, 'link' | 'linkAt'> {
  return { link: link?.url ?? null, linkAt: link?.at ?? null }
}

function linkOf(url: string | null, at: Date | null): Link | null {
  return url === null ? null : { url, at }
}
