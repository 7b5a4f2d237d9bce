import type { StreamStart } from '../protocol/progress/sync-observer.ts'
import type { Stream } from '../streams/collection.ts'
import { type Mode, type StoredReading, writeBookmark } from './bookmark.ts'
import type { Bookmark } from './bookmark-fields.ts'
import type { Day } from './days.ts'
import { createLiveKeys, type LiveKeys } from './live-keys.ts'
import { INITIAL, LIST, type Position } from './position.ts'
import { streamStart } from './stream-start.ts'
import type { StreamLog } from './stream-warnings.ts'

/** The reading of one stream: where it stands, and what its bookmark says. */
export interface Reading {
  readonly stream: Stream
  readonly mode: Mode
  readonly keys: LiveKeys
  readonly position: Position
  /** The first day that the warehouse stands for; null for streams whose records have no day. */
  readonly start: Day | null
  readonly generation: number
  /** True while the reading is one that an earlier process began. */
  readonly isContinued: boolean
  /** True once everything of this generation has been written. */
  readonly isSettled: boolean
  /** See `StoredReading.replacesOlder`. */
  readonly replacesOlder: boolean
  /** From where it is read, and how many rows are expected. */
  readonly begunFrom: StreamStart
  moveTo(position: Position): void
  /** Begins a complete reading, by the whole list if it is to be. */
  beginAnew(now: Date, position?: Position): void
  /** The same, and says why; from another first day, if one is given. */
  startOver(reason: StartOver, now: Date, start?: Day | null): void
  /** Rows of a page that were read. */
  addRows(count: number): void
  /** Rows of older generations stay, because not everything could be read. */
  keepOlder(): void
  settle(): void
  bookmark(): Bookmark
}

/** Why a reading begins anew: in a few words, and as the clause of a warning. */
export interface StartOver {
  readonly why: string
  readonly message: string
  /** Set when the sync tells of it at its end, for all streams at once. */
  readonly isToldAtEnd?: boolean
}

export interface ReadingSettings {
  readonly stream: Stream
  readonly mode: Mode
  readonly service: string
  readonly settings: string
  readonly start: Day | null
  /** The service's time. */
  readonly now: Date
  readonly log: StreamLog
  /** See `LiveKeysSettings`. */
  readonly takes: (characters: number) => boolean
  readonly onOutgrown: () => void
  /** See `StoredReading.replacesOlder`; true unless given. */
  readonly replacesOlder?: boolean
  /** Why it is read from the beginning, in a few words; needed where nothing is stored. */
  readonly why?: string
}

/** A reading from the beginning, or from what is stored; throws when its sets cannot be decoded. */
export function createReading(settings: ReadingSettings, stored?: StoredReading): Reading {
  const { stream, mode, log, service, takes } = settings
  const keys = createLiveKeys(stored?.keys, { takes, onOutgrown })
  const first = mode === 'full_refresh' || stream.replication === 'list' ? LIST : INITIAL
  let position = stored?.position ?? first
  let start = settings.start
  let generation = stored?.generation ?? nextGeneration(0, settings.now)
  let isContinued = stored !== undefined
  let isSettled = stored?.isSettled ?? false
  let replacesOlder = stored?.replacesOlder ?? settings.replacesOlder ?? true
  let begunFrom = streamStart(stored, settings.why)
  let wholeRows = stored?.wholeRows ?? null
  let rowsSoFar = stored?.rowsSoFar ?? 0
  return {
    stream,
    mode,
    keys,
    get position() {
      return position
    },
    get start() {
      return start
    },
    get generation() {
      return generation
    },
    get isContinued() {
      return isContinued
    },
    get isSettled() {
      return isSettled
    },
    get replacesOlder() {
      return replacesOlder
    },
    get begunFrom() {
      return begunFrom
    },
    moveTo(next) {
      position = next
    },
    beginAnew,
    startOver(reason, now, from = start) {
      const say = reason.isToldAtEnd === true ? log.debug : log.warn
      say(`${reason.message}; the stream is read from the beginning.`)
      start = from
      beginAnew(now)
      begunFrom = streamStart({ wholeRows }, reason.why)
    },
    addRows(count) {
      if (!isSettled && position.phase !== 'changes') rowsSoFar += count
    },
    keepOlder() {
      replacesOlder = false
    },
    settle() {
      if (!isSettled) wholeRows = rowsSoFar
      isSettled = true
    },
    bookmark: () =>
      writeBookmark({
        mode,
        service,
        settings: settings.settings,
        start,
        generation,
        isSettled,
        replacesOlder,
        position: withDoubt(position),
        keys: keys.encode(),
        wholeRows,
        rowsSoFar: isSettled ? null : rowsSoFar,
      }),
  }

  function beginAnew(now: Date, at: Position = first): void {
    keys.beginReading()
    position = at
    generation = nextGeneration(generation, now)
    isContinued = false
    isSettled = false
    replacesOlder = true
    rowsSoFar = 0
  }

  /** A backfill in doubt is due at the next sync, should this one not get to it. */
  function withDoubt(at: Position): Position {
    if (!keys.isBackfillInDoubt) return at
    if (at.phase === 'changes') return { ...at, backfilledAt: null }
    if (at.phase === 'complete' && at.next !== 'list') return withDoubt(at.next)
    return at
  }

  function onOutgrown(): void {
    settings.onOutgrown()
    log.warn(
      `the set of live ids is too large for the state, so rows that vanish are not turned into deletes any more. Rows of an older _generation than the newest are candidates; the user's guide has the query that finds them.`,
    )
  }
}

/** Seconds since 1970, risen by at least one: a 32-bit integer, as Singer's targets need it. */
function nextGeneration(previous: number, now: Date): number {
  return Math.max(previous + 1, Math.floor(now.getTime() / 1000))
}
