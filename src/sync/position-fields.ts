import type { Bookmark } from './bookmark-fields.ts'
import type { Backfill, Changes, Link, Position } from './position.ts'

/** What a bookmark says of the position. */
type PositionFields = Pick<
  Bookmark,
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
export function readPosition(bookmark: Bookmark): Position | undefined {
  const { mode, phase, start, window, until, slice, requested } = bookmark
  const isList = phase === 'list' || phase === 'complete'
  if (mode === 'full_refresh' && !isList) return undefined
  // Only records with a day have a window, and only a start before it has days to backfill.
  const isWindowed = (start === null) === (window === null)
  const hasBackfill = start !== null && window !== null && start < window
  if (bookmark.backfill_ids !== null && !isList && !hasBackfill) return undefined
  const page = readLink(bookmark.link, bookmark.link_at)
  const isListing = until !== null && (page === null || slice !== null) && (start ?? '') <= until
  const changes = (delta: Link): Changes => ({
    phase: 'changes',
    delta,
    requested: phase === 'changes' && requested,
    // After an interrupted first reading its link may have been requested, too.
    maybeConsumed: phase === 'changes' ? requested : true,
    window,
    backfilledAt: readTime(bookmark.backfilled_at),
  })
  switch (phase) {
    case 'initial':
      return page === null || isWindowed ? { phase, page, window, maybeConsumed: true } : undefined
    case 'backfill': {
      const delta = readLink(bookmark.delta_link, bookmark.delta_link_at)
      if (!hasBackfill || delta === null || until === null || !isListing) return undefined
      const begunAt = readTime(bookmark.listing_at)
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

function linkFields(link: Link | null): Pick<Bookmark, 'link' | 'link_at'> {
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
