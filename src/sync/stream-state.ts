import type { Config } from '../config/config.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { ServerClock } from '../http/clock.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { Log, StreamStart, SyncObserver } from '../protocol/connector.ts'
import type { Stamp, StreamOutput } from '../protocol/stream-output.ts'
import type { Stream } from '../streams/collections.ts'
import { addDays, type Day, dayOf } from './days.ts'
import type { IdBudget } from './id-budget.ts'
import { createLatestChanges, type LatestChanges } from './latest-changes.ts'
import { createLiveKeys, type LiveKeys, type StoredKeys } from './live-keys.ts'
import type { ExpiredDeltas, StreamLog } from './notices.ts'
import type { Pages } from './pages.ts'
import { INITIAL, LIST, type Position } from './position.ts'
import { type Mode, type StateBlob, type StoredState, writeState } from './stored-state.ts'
import type { StreamAccount } from './stream-account.ts'
import type { StreamTask } from './stream-task.ts'
import type { Fingerprints, SummedRows } from './summed-rows.ts'

type Known = Pick<StoredState, 'wholeRows'> &
  Partial<Pick<StoredState, 'position' | 'isSettled' | 'rowsSoFar'>>

/**
 * From where a stream is read: from the beginning, if it is said why, else from what is stored. What has
 * changed since the last sync is what this one finds out, so nothing is expected of it.
 */
export function streamStart(stored: Known | undefined, why: string | undefined): StreamStart {
  const whole = stored?.wholeRows ?? undefined
  if (why !== undefined || stored === undefined)
    return { kind: 'begins', how: `from the beginning: ${why}`, expected: whole }
  const { position, isSettled, rowsSoFar } = stored
  if (position?.phase === 'changes') return { kind: 'changes', how: 'incremental' }
  if (position?.phase === 'complete') return { kind: 'whole', how: 'whole list', expected: whole }
  const isCounted = isSettled === false && whole !== undefined
  const expected = isCounted ? Math.max(0, whole - (rowsSoFar ?? 0)) : undefined
  return { kind: 'continues', how: 'continued', expected }
}

/** The reading of one stream: where it stands, and what its bookmark says. */
export interface StreamState {
  readonly stream: Stream
  readonly mode: Mode
  /** See `StreamRequest.refresh`. */
  readonly refresh: number | undefined
  /** Whether an earlier sync has written all of the full refresh to which this one belongs. */
  readonly isRefreshed: boolean
  /** See `StreamRequest.byLists`. */
  readonly startsNoDelta: boolean
  readonly keys: LiveKeys
  readonly position: Position
  /** The first day that the warehouse stands for; null for streams whose records have no day. */
  readonly start: Day | null
  readonly generation: number
  /** What the records that are written next get; no two calls answer one cursor. */
  stamp(now: Date): Stamp
  /** True while the reading is one that an earlier process began. */
  readonly isContinued: boolean
  /** True once everything of this generation has been written. */
  readonly isSettled: boolean
  /** See `StoredState.replacesOlder`. */
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
  /** See `StoredState.isListDue`. */
  readonly isListDue: boolean
  makeListDue(): void
  /** See `StoredState.wasDeltaOffered`. */
  readonly wasDeltaOffered: boolean
  /** The service has answered a delta. */
  deltaAnswered(): void
  /** See `StoredState.listedUntil`. */
  readonly listedUntil: Day | null
  /** A list begins that has a last day, which later lists will have, too. */
  listUntil(day: Day): void
  /** See `StoredState.auditedAt`. */
  readonly auditedAt: Date | null
  /** See `StoredState.isAuditing`. */
  readonly isAuditing: boolean
  beginAudit(): void
  /** The audit that began at this time is over, and what the parts are is known, if they were listed. */
  endAudit(begunAt: Date, parts?: Fingerprints): void
  /** See `StoredState.auditedParts`. */
  readonly auditedParts: Fingerprints
  readonly latestChanges: LatestChanges
  settle(): void
  blob(): StateBlob
}

/** Why a reading begins anew: in a few words, and as the clause of a warning. */
export interface StartOver {
  readonly why: string
  readonly message: string
  /** Set when the sync tells of it at its end, for all streams at once. */
  readonly isToldAtEnd?: boolean
  /** Set when a link died in the middle of the reading: a full refresh then leaves out what it has sent. */
  readonly isDeadLink?: boolean
  /** Set when somebody has asked for it: no warning. */
  readonly isExpected?: boolean
}

export interface StreamStateSettings {
  readonly stream: Stream
  readonly mode: Mode
  readonly refresh: StreamTask['refresh']
  readonly byLists: StreamTask['byLists']
  readonly service: string
  readonly environment: string
  readonly settings: string
  readonly fields: string
  readonly start: Day | null
  /** See `StoredState.cursor`. */
  readonly cursor: number
  /** The service's time. */
  readonly now: Date
  readonly log: StreamLog
  /** Shared by the streams of the sync. */
  readonly ids: IdBudget
  /** See `StoredState.replacesOlder`; true unless given. */
  readonly replacesOlder?: boolean
  /** Why it is read from the beginning, in a few words; needed where nothing is stored. */
  readonly why?: string
}

/** A reading from the beginning, or from what is stored; throws when its sets cannot be decoded. */
export function createStreamState(
  settings: StreamStateSettings,
  stored?: StoredState,
): StreamState {
  const { stream, mode, refresh, byLists, log, service, environment, ids } = settings
  const mostIds = stored?.rowsCounted ?? undefined
  const keys = createLiveKeys(stored?.keys, { stream: stream.stream, ids, mostIds })
  const first = mode === 'full_refresh' || stream.replication === 'list' ? LIST : INITIAL
  let position = stored?.position ?? first
  let start = settings.start
  let generation = stored?.generation ?? nextGeneration(0, settings.now)
  let cursor = firstCursor(settings.cursor, settings.now) - 1
  let isContinued = stored !== undefined
  let isRefreshed =
    mode === 'full_refresh' &&
    position.phase === 'complete' &&
    refresh !== undefined &&
    stored?.refresh === refresh
  let isSettled = stored?.isSettled ?? false
  let replacesOlder = stored?.replacesOlder ?? settings.replacesOlder ?? true
  let isListDue = stored?.isListDue ?? false
  let wasDeltaOffered = stored?.wasDeltaOffered ?? false
  let listedUntil = stored?.listedUntil ?? byLists?.until ?? null
  let auditedAt = stored?.auditedAt ?? null
  let isAuditing = stored?.isAuditing ?? false
  let auditedParts: Fingerprints = stored?.auditedParts ?? new Map()
  const latestChanges = createLatestChanges(stored?.latestChanges ?? null)
  let begunFrom = streamStart(stored, settings.why)
  let wholeRows = stored?.wholeRows ?? null
  let rowsSoFar = stored?.rowsSoFar ?? 0
  // What was read before rows were counted is not known, and stays so.
  let rowsCounted = stored === undefined ? 0 : stored.rowsCounted
  return {
    stream,
    mode,
    refresh,
    get isRefreshed() {
      return isRefreshed
    },
    startsNoDelta: byLists !== undefined,
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
    stamp: (now) => ({ generation, cursor: ++cursor, now }),
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
    beginAnew: (now, at) => beginAnew(now, at),
    startOver(reason, now, from = start) {
      const isQuiet = reason.isToldAtEnd === true || reason.isExpected === true
      const say = isQuiet ? log.debug : log.warn
      say(warningOf('starts-over', `${reason.message}; the stream is read from the beginning.`))
      start = from
      beginAnew(now, first, reason.isDeadLink === true && mode === 'full_refresh')
      begunFrom = streamStart({ wholeRows }, reason.why)
    },
    addRows(count) {
      if (rowsCounted !== null) rowsCounted += count
      if (!isSettled && position.phase !== 'changes') rowsSoFar += count
    },
    keepOlder() {
      replacesOlder = false
    },
    get isListDue() {
      if (isListDue || position.phase !== 'complete') return isListDue
      // A list of each sync is compared with the rows of before. Any other reading is compared with none, and
      // one without a row costs no more than the list that confirms it.
      const isCompared = mode === 'incremental' && position.next === 'list'
      return !isCompared && !isSettled && rowsSoFar === 0
    },
    makeListDue() {
      isListDue = true
    },
    get wasDeltaOffered() {
      return wasDeltaOffered
    },
    deltaAnswered() {
      wasDeltaOffered = true
    },
    get listedUntil() {
      return listedUntil
    },
    listUntil(day) {
      listedUntil = day
    },
    get auditedAt() {
      return auditedAt
    },
    get isAuditing() {
      return isAuditing
    },
    beginAudit() {
      isAuditing = true
    },
    endAudit(begunAt, parts = auditedParts) {
      auditedAt = begunAt
      isAuditing = false
      auditedParts = parts
    },
    get auditedParts() {
      return auditedParts
    },
    latestChanges,
    settle() {
      if (!isSettled) wholeRows = rowsSoFar
      isSettled = true
      isListDue = false
      if (mode === 'full_refresh') keys.forgetSent()
    },
    blob() {
      const encoded = encodedKeys()
      const isAtBeginning = encoded.isAtBeginning === true
      return writeState({
        mode,
        refresh: refresh ?? null,
        service,
        environment,
        settings: settings.settings,
        fields: settings.fields,
        start,
        generation,
        cursor,
        isSettled: isSettled && !isAtBeginning,
        replacesOlder,
        isListDue,
        wasDeltaOffered,
        listedUntil,
        auditedAt,
        isAuditing,
        auditedParts,
        latestChanges: latestChanges.encode(),
        position: isAtBeginning ? first : withDoubt(position),
        keys: encoded,
        wholeRows,
        rowsSoFar: isSettled || isAtBeginning ? null : rowsSoFar,
        rowsCounted,
      })
    },
  }

  /** A refresh that goes on keeps its generation, to which belongs what it has sent. */
  function beginAnew(now: Date, at: Position = first, goesOn = false): void {
    if (mode === 'incremental') keys.beginReading()
    else if (!goesOn) keys.forgetSent()
    position = at
    if (!goesOn) generation = nextGeneration(generation, now)
    isContinued = false
    isRefreshed = false
    isSettled = false
    replacesOlder = true
    isListDue = false
    isAuditing = false
    auditedParts = new Map()
    latestChanges.forget()
    rowsSoFar = 0
  }

  /** A backfill in doubt is due at the next sync, should this one not get to it. */
  function withDoubt(at: Position): Position {
    if (!keys.isBackfillInDoubt) return at
    if (at.phase === 'changes') return { ...at, backfilledAt: null }
    if (at.phase === 'complete' && at.next !== 'list') return withDoubt(at.next)
    return at
  }

  function encodedKeys(): StoredKeys {
    const wasTracked = keys.isTracked
    const encoded = keys.encode()
    if (wasTracked && !keys.isTracked && mode === 'incremental')
      log.warn(
        warningOf(
          'ids-too-many',
          `the set of live ids is too large for the state, so rows that vanish no longer become deletes. They keep an older _generation than the newest; the user's guide has a query that finds them.`,
        ),
      )
    return encoded
  }
}

/**
 * After a state a sync may write up to so many batches before the next one, and may then be killed: their
 * records have cursors that no state tells of.
 */
const BATCHES_PER_STATE = 1_000_000

/** The cursor with which a sync begins: microseconds since 1970, above all that was written before. */
function firstCursor(last: number, now: Date): number {
  return Math.max(last + BATCHES_PER_STATE, now.getTime() * 1000)
}

/** Seconds since 1970, risen by at least one; see `MOST_GENERATION`. */
function nextGeneration(previous: number, now: Date): number {
  return Math.max(previous + 1, Math.floor(now.getTime() / 1000))
}

/** What the reading of one stream works with. */
export interface StreamContext {
  readonly state: StreamState
  readonly config: Config
  readonly endpoints: Endpoints
  readonly clock: ServerClock
  readonly pages: Pages
  readonly output: StreamOutput
  readonly log: Log
  readonly observer: SyncObserver | undefined
  /** Shared by the streams of the sync. */
  readonly expiredDeltas: ExpiredDeltas
  /** What is noted for the inventory, where one is written. */
  readonly account: StreamAccount | undefined
  /** The rows of a listing, where they are summed. */
  readonly rows: SummedRows
}

/**
 * The last day of a list. What an earlier list of the stream had, the warehouse stands for: it must not
 * count as gone when `future_days` is smaller now.
 */
export function lastDay({ state, config, clock }: StreamContext): Day {
  const { listedUntil, mode, startsNoDelta } = state
  const day = addDays(dayOf(clock.now()), config.futureDays)
  const isBound = mode === 'incremental' || startsNoDelta
  return isBound && listedUntil !== null && listedUntil > day ? listedUntil : day
}
