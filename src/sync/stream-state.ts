import type { Config } from '../config/config.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { ServerClock } from '../http/clock.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { Log, Stamp, StreamOutput, StreamStart, SyncObserver } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { addDays, type Day, dayOf } from './days.ts'
import { createLatestChanges, type LatestChanges } from './latest-changes.ts'
import { createLiveKeys, type LiveKeys } from './live-keys.ts'
import type { ExpiredDeltas, StreamLog } from './notices.ts'
import type { Pages } from './pages.ts'
import { INITIAL, LIST, type Position } from './position.ts'
import type { IdBudget, StoredKeys } from './stored-keys.ts'
import { type Mode, type StateBlob, type StoredState, writeState } from './stored-state.ts'
import type { StreamInventory } from './stream-inventory.ts'
import type { StreamTask } from './stream-task.ts'
import type { Fingerprints, SummedRows } from './summed-rows.ts'

type Known = Pick<StoredState, 'wholeRows'> &
  Partial<Pick<StoredState, 'position' | 'isSettled' | 'rowsSoFar'>>

/**
 * Where the reading of a stream starts: from the beginning if there is a reason, otherwise from its stored state. The
 * number of changes since the last sync is unknown, so none is expected.
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

/** The state of the read of one stream. */
export interface StreamState {
  readonly stream: Stream
  readonly mode: Mode
  /** See `StreamRequest.refresh`. */
  readonly refresh: number | undefined
  /** Whether an earlier sync has already written all of the full refresh that this sync belongs to. */
  readonly isRefreshed: boolean
  /** See `StreamRequest.byLists`. */
  readonly startsNoDelta: boolean
  readonly keys: LiveKeys
  readonly position: Position
  /** The first day that the warehouse covers; null for streams without dates. */
  readonly start: Day | null
  readonly generation: number
  /** The stamp of the next records; each call returns a new cursor. */
  stamp(now: Date): Stamp
  /** Whether an earlier process began this read. */
  readonly isContinued: boolean
  /** True once everything of this generation has been written. */
  readonly isSettled: boolean
  /** See `StoredState.replacesOlder`. */
  readonly replacesOlder: boolean
  /** Where the read starts, and how many rows are expected. */
  readonly begunFrom: StreamStart
  moveTo(position: Position): void
  /** Begins a complete read, at the given position or at the first one. */
  beginAnew(now: Date, position?: Position): void
  /** Begins a complete read and logs why, with another first day if one is given. */
  startOver(reason: StartOver, now: Date, start?: Day | null): void
  /** Adds to the number of rows that were read. */
  addRows(count: number): void
  /** Keeps rows of older generations, because not everything could be read. */
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
  /** A list begins that ends on this day; later lists will not end before it. */
  listUntil(day: Day): void
  /** See `StoredState.auditedAt`. */
  readonly auditedAt: Date | null
  /** See `StoredState.isAuditing`. */
  readonly isAuditing: boolean
  beginAudit(): void
  /** Ends the audit that began at this time. `parts` are the fingerprints, if the parts were listed. */
  endAudit(begunAt: Date, parts?: Fingerprints): void
  /** See `StoredState.auditedParts`. */
  readonly auditedParts: Fingerprints
  readonly latestChanges: LatestChanges
  settle(): void
  blob(): StateBlob
}

/** Why a read starts over, in a few words and as the clause of a warning. */
export interface StartOver {
  readonly why: string
  readonly message: string
  /** Whether the sync reports it at its end, for all streams together. */
  readonly isToldAtEnd?: boolean
  /** Whether a link died during the read: then a full refresh leaves out rows that it has already sent. */
  readonly isDeadLink?: boolean
  /** Whether it was requested: then there is no warning. */
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
  /** Shared by all streams of the sync. */
  readonly ids: IdBudget
  /** See `StoredState.replacesOlder`; true by default. */
  readonly replacesOlder?: boolean
  /** Why the stream is read from the beginning, in a few words; required if there is no stored state. */
  readonly why?: string
}

/** The state as this file sees it: all others can only read its fields. */
type WritableState = { -readonly [Field in keyof StreamState]: StreamState[Field] }

/**
 * Creates the state of a read, from the beginning or from a stored state. Throws if a set of ids cannot be decoded.
 */
export function createStreamState(
  settings: StreamStateSettings,
  stored?: StoredState,
): StreamState {
  const { stream, mode, refresh, byLists, log, ids } = settings
  const mostIds = stored?.rowsCounted ?? undefined
  const keys = createLiveKeys(stored?.keys, { stream: stream.stream, ids, mostIds })
  const latestChanges = createLatestChanges(stored?.latestChanges ?? null)
  const first = mode === 'full_refresh' || stream.replication === 'list' ? LIST : INITIAL
  /** The last cursor that was used. */
  let cursor = firstCursor(settings.cursor, settings.now) - 1
  let wasListMadeDue = stored?.isListDue ?? false
  let wholeRows = stored?.wholeRows ?? null
  let rowsSoFar = stored?.rowsSoFar ?? 0
  // If an older state did not count rows, their number stays unknown.
  let rowsCounted = stored === undefined ? 0 : stored.rowsCounted
  const state: WritableState = {
    ...initialFields(settings, stored),
    stream,
    mode,
    refresh,
    startsNoDelta: byLists !== undefined,
    keys,
    latestChanges,
    position: stored?.position ?? first,
    get isListDue() {
      const { position, isSettled } = state
      if (wasListMadeDue || position.phase !== 'complete') return wasListMadeDue
      // A list of each sync is compared with the rows of the previous one. Any other read is compared with none; if
      // it found no row, the list that confirms this costs little.
      const isCompared = mode === 'incremental' && position.next === 'list'
      return !isCompared && !isSettled && rowsSoFar === 0
    },
    stamp: (now) => ({ generation: state.generation, cursor: ++cursor, now }),
    moveTo(position) {
      state.position = position
    },
    beginAnew: (now, at) => beginAnew(now, at),
    startOver(reason, now, from = state.start) {
      const isQuiet = reason.isToldAtEnd === true || reason.isExpected === true
      const say = isQuiet ? log.debug : log.warn
      say(warningOf('starts-over', `${reason.message}; the stream is read from the beginning.`))
      state.start = from
      beginAnew(now, first, reason.isDeadLink === true && mode === 'full_refresh')
      state.begunFrom = streamStart({ wholeRows }, reason.why)
    },
    addRows(count) {
      if (rowsCounted !== null) rowsCounted += count
      if (!state.isSettled && state.position.phase !== 'changes') rowsSoFar += count
    },
    keepOlder() {
      state.replacesOlder = false
    },
    makeListDue() {
      wasListMadeDue = true
    },
    deltaAnswered() {
      state.wasDeltaOffered = true
    },
    listUntil(day) {
      state.listedUntil = day
    },
    beginAudit() {
      state.isAuditing = true
    },
    endAudit(begunAt, parts = state.auditedParts) {
      state.auditedAt = begunAt
      state.isAuditing = false
      state.auditedParts = parts
    },
    settle() {
      if (!state.isSettled) wholeRows = rowsSoFar
      state.isSettled = true
      wasListMadeDue = false
      if (mode === 'full_refresh') keys.forgetSent()
    },
    blob,
  }
  return state

  /**
   * Begins a complete read. A full refresh that goes on keeps its generation, because the rows that it has sent
   * belong to it.
   */
  function beginAnew(now: Date, at: Position = first, goesOn = false): void {
    if (mode === 'incremental') keys.beginReading()
    else if (!goesOn) keys.forgetSent()
    if (!goesOn) state.generation = nextGeneration(state.generation, now)
    state.position = at
    state.isContinued = false
    state.isRefreshed = false
    state.isSettled = false
    state.replacesOlder = true
    state.isAuditing = false
    state.auditedParts = new Map()
    latestChanges.forget()
    wasListMadeDue = false
    rowsSoFar = 0
  }

  function blob(): StateBlob {
    const { service, environment, fields } = settings
    const encoded = encodedKeys(keys, mode, log)
    const isAtBeginning = encoded.isAtBeginning === true
    // Field by field: this runs for each page, and `...state` would copy the getter and all methods, too.
    return writeState({
      mode,
      refresh: refresh ?? null,
      service,
      environment,
      settings: settings.settings,
      fields,
      start: state.start,
      generation: state.generation,
      cursor,
      isSettled: state.isSettled && !isAtBeginning,
      replacesOlder: state.replacesOlder,
      isListDue: wasListMadeDue,
      wasDeltaOffered: state.wasDeltaOffered,
      listedUntil: state.listedUntil,
      auditedAt: state.auditedAt,
      isAuditing: state.isAuditing,
      auditedParts: state.auditedParts,
      latestChanges: latestChanges.encode(),
      position: isAtBeginning ? first : withDoubt(state.position, keys),
      keys: encoded,
      wholeRows,
      rowsSoFar: state.isSettled || isAtBeginning ? null : rowsSoFar,
      rowsCounted,
    })
  }
}

/** The fields that begin with stored values and may change during the read. */
function initialFields(settings: StreamStateSettings, stored: StoredState | undefined) {
  const { start, now, byLists, replacesOlder = true, why } = settings
  return {
    start,
    isRefreshed: isRefreshed(settings, stored),
    generation: stored?.generation ?? nextGeneration(0, now),
    isContinued: stored !== undefined,
    isSettled: stored?.isSettled ?? false,
    replacesOlder: stored?.replacesOlder ?? replacesOlder,
    begunFrom: streamStart(stored, why),
    wasDeltaOffered: stored?.wasDeltaOffered ?? false,
    listedUntil: stored?.listedUntil ?? byLists?.until ?? null,
    auditedAt: stored?.auditedAt ?? null,
    isAuditing: stored?.isAuditing ?? false,
    auditedParts: stored?.auditedParts ?? new Map(),
  } satisfies Partial<StreamState>
}

/** See `StreamState.isRefreshed`. */
function isRefreshed({ mode, refresh }: StreamStateSettings, stored: StoredState | undefined) {
  if (mode !== 'full_refresh' || refresh === undefined || stored === undefined) return false
  return stored.position.phase === 'complete' && stored.refresh === refresh
}

/** A backfill in doubt is due at the next sync if this one does not finish it. */
function withDoubt(at: Position, keys: LiveKeys): Position {
  if (!keys.isBackfillInDoubt) return at
  if (at.phase === 'changes') return { ...at, backfilledAt: null }
  if (at.phase === 'complete' && at.next !== 'list') return withDoubt(at.next, keys)
  return at
}

/** Encodes the keys. Warns if they have just become too many for the state. */
function encodedKeys(keys: LiveKeys, mode: Mode, log: StreamLog): StoredKeys {
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

/**
 * The most batches that a sync may write after a state. If it is killed then, no state knows the cursors of their
 * records.
 */
const BATCHES_PER_STATE = 1_000_000

/** The first cursor of a sync: microseconds since 1970, above all cursors of earlier syncs. */
function firstCursor(last: number, now: Date): number {
  return Math.max(last + BATCHES_PER_STATE, now.getTime() * 1000)
}

/** The next generation: seconds since 1970, but at least one more than the previous one. See `MOST_GENERATION`. */
function nextGeneration(previous: number, now: Date): number {
  return Math.max(previous + 1, Math.floor(now.getTime() / 1000))
}

/** What the read of one stream works with. */
export interface StreamContext {
  readonly state: StreamState
  readonly config: Config
  readonly endpoints: Endpoints
  readonly clock: ServerClock
  readonly pages: Pages
  readonly output: StreamOutput
  readonly log: Log
  readonly observer: SyncObserver | undefined
  /** Shared by all streams of the sync. */
  readonly expiredDeltas: ExpiredDeltas
  /** Set if an inventory is written. */
  readonly inventory: StreamInventory | undefined
  /** The rows of a listing, if they are summed. */
  readonly rows: SummedRows
}

/**
 * The last day of a list. It is not before the last day of an earlier list: the warehouse has these rows, and they
 * must not count as deleted if `future_days` is smaller now.
 */
export function lastDay({ state, config, clock }: StreamContext): Day {
  const { listedUntil, mode, startsNoDelta } = state
  const day = addDays(dayOf(clock.now()), config.futureDays)
  const isBound = mode === 'incremental' || startsNoDelta
  return isBound && listedUntil !== null && listedUntil > day ? listedUntil : day
}
