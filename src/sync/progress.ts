import type { Log } from '../protocol/connector.ts'
import type { Stream } from '../streams/collection.ts'
import type { Bookmark, Part } from './bookmark.ts'
import type { Day } from './days.ts'
import { createLedger, type Ledger } from './live-keys.ts'

/** How far the reading of one stream has come; its bookmark is what a later sync continues from. */
export interface Progress {
  readonly stream: Stream
  readonly mode: 'full_refresh' | 'incremental'
  readonly ledger: Ledger
  /** True while the reading is one that an earlier process began. */
  isContinued: boolean
  /** True when an earlier process may have asked the delta link without handing its answer over. */
  mayBeUsed: boolean
  readonly start: Day | null
  readonly generation: number
  part: Part
  link: string | null
  linkAt: Date | null
  asked: boolean
  slice: string | null
  /** When the listing that is being read began; null for one that an older version began. */
  listingAt: Date | null
  until: Day | null
  window: Day | null
  deltaLink: string | null
  deltaLinkAt: Date | null
  historyAt: Date | null
  settled: boolean
  replaces: boolean
  /** Begins a complete reading anew and says why. */
  startOver(reason: string, now: Date, start?: Day | null): void
  /** Begins the next complete reading after a whole list, from a part that may be another one. */
  readAgain(now: Date, part?: Part): void
  bookmark(): Bookmark
}

export interface ProgressSettings {
  readonly stream: Stream
  readonly mode: 'full_refresh' | 'incremental'
  readonly service: string
  readonly settings: string
  readonly start: Day | null
  readonly now: Date
  readonly log: Log
  /** See `LedgerSettings`. */
  readonly takes: (characters: number) => boolean
  readonly onOutgrown: () => void
  /** See `Bookmark.replaces`; true unless given. */
  readonly replaces?: boolean
}

/** Progress from the beginning, or from a stored bookmark; throws when its sets cannot be decoded. */
export function createProgress(settings: ProgressSettings, stored?: Bookmark): Progress {
  const { stream, mode, log } = settings
  const ledger = createLedger(stored, { takes: settings.takes, onOutgrown })
  const progress = {
    stream,
    mode,
    ledger,
    isContinued: stored !== undefined,
    mayBeUsed: stored?.asked === true || stored?.part === 'load' || stored?.part === 'history',
    start: settings.start,
    generation: stored?.generation ?? nextGeneration(0, settings.now),
    part: stored?.part ?? firstPart(),
    link: stored?.link ?? null,
    linkAt: time(stored?.link_at),
    asked: stored?.asked ?? false,
    slice: stored?.slice ?? null,
    listingAt: time(stored?.listing_at),
    until: stored?.until ?? null,
    window: stored?.window ?? null,
    deltaLink: stored?.delta_link ?? null,
    deltaLinkAt: time(stored?.delta_link_at),
    historyAt: time(stored?.history_at),
    settled: stored?.settled ?? false,
    replaces: stored?.replaces ?? settings.replaces ?? true,
    startOver,
    readAgain,
    bookmark,
  }
  return progress

  function firstPart(): Part {
    return mode === 'full_refresh' || stream.replication === 'list' ? 'list' : 'load'
  }

  function startOver(reason: string, now: Date, start = progress.start): void {
    log.warn(`${stream.stream}: ${reason}; the stream is read from the beginning.`)
    progress.start = start
    begin(firstPart(), now)
  }

  function readAgain(now: Date, part = firstPart()): void {
    begin(part, now)
  }

  function begin(part: Part, now: Date): void {
    ledger.beginReading()
    Object.assign(progress, {
      part,
      generation: nextGeneration(progress.generation, now),
      isContinued: false,
      link: null,
      linkAt: null,
      asked: false,
      mayBeUsed: false,
      slice: null,
      listingAt: null,
      until: null,
      window: null,
      deltaLink: null,
      deltaLinkAt: null,
      historyAt: null,
      settled: false,
      replaces: true,
    })
  }

  function bookmark(): Bookmark {
    return {
      bookmark_version: 1,
      mode,
      service: settings.service,
      settings: settings.settings,
      start: progress.start,
      generation: progress.generation,
      settled: progress.settled,
      replaces: progress.replaces,
      part: progress.part,
      link: progress.link,
      link_at: progress.linkAt?.toISOString() ?? null,
      asked: progress.asked,
      slice: progress.slice,
      listing_at: progress.listingAt?.toISOString() ?? null,
      until: progress.until,
      window: progress.window,
      delta_link: progress.deltaLink,
      delta_link_at: progress.deltaLinkAt?.toISOString() ?? null,
      // A history in doubt is due at the next sync, should this one not get to listing it.
      history_at: ledger.isHistoryInDoubt ? null : (progress.historyAt?.toISOString() ?? null),
      ...ledger.encode(),
    }
  }

  function onOutgrown(): void {
    settings.onOutgrown()
    log.warn(
      `${stream.stream}: the set of live ids is too large for the state, so rows that vanish are not turned into deletes any more. Rows of an older _generation than the newest are candidates; the user's guide has the query that finds them.`,
    )
  }
}

/** Whether the stream stands for days before its delta's window, which only lists can tell of. */
export function hasHistory({ start, window }: Pick<Progress, 'start' | 'window'>): boolean {
  return start !== null && window !== null && start < window
}

/** Seconds since 1970, risen by at least one: a 32-bit integer, as Singer's targets need it. */
function nextGeneration(previous: number, now: Date): number {
  return Math.max(previous + 1, Math.floor(now.getTime() / 1000))
}

function time(text: string | null | undefined): Date | null {
  return text === null || text === undefined ? null : new Date(text)
}
