import type { Config } from '../config/config.ts'
import { addDays, type Day, dayOf } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { ServerClock } from '../http/clock.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { Pages } from '../pages/pages.ts'
import type { Suppression } from '../pages/suppression.ts'
import type { Log, Stamp, StreamOutput, StreamStart, SyncObserver } from '../protocol/connector.ts'
import { createLatestChanges, type LatestChanges } from '../rows/latest-changes.ts'
import type { Fingerprints, ListedParts } from '../rows/listed-parts.ts'
import { createLiveKeys, type LiveKeys } from '../rows/live-keys.ts'
import type { IdBudget, StoredKeys } from '../rows/stored-keys.ts'
import type { StreamInventory } from '../rows/stream-inventory.ts'
import type { Stream } from '../streams/collections.ts'
import type { ExpiredDeltas, StreamLog } from './notices.ts'
import { INITIAL, LIST, type Position } from './position.ts'
import {
  FRESH,
  type Mode,
  readState,
  type StateBlob,
  type StateValues,
  type StoredState,
  writeState,
} from './stored-state.ts'
import type { StreamTask } from './stream-task.ts'

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

/** The state of the read of one stream; `STATE` in stored-state.ts describes its values. */
export interface StreamState extends Omit<StateValues, 'refresh' | 'latestChanges'> {
  readonly stream: Stream
  /** See `StreamRequest.refresh`. */
  readonly refresh: number | undefined
  /** Whether an earlier sync has already written all of the full refresh that this sync belongs to. */
  readonly isRefreshed: boolean
  /** See `StreamRequest.byLists`. */
  readonly startsNoDelta: boolean
  readonly keys: LiveKeys
  readonly latestChanges: LatestChanges
  readonly position: Position
  /** The stamp of the next records; each call returns a new cursor. */
  stamp(now: Date): Stamp
  /** Whether an earlier process began this read. */
  readonly isContinued: boolean
  /** Whether a row may have moved between the pages of this read: their ids do not rise. */
  readonly mayHaveMoved: boolean
  orderMayMove(): void
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
  makeListDue(): void
  /** The service has answered a delta. */
  deltaAnswered(): void
  /** A list begins that ends on this day; later lists will not end before it. */
  listUntil(day: Day): void
  /** Rows of these parts are about to be written: what was seen of them is no longer valid. */
  forgetParts(parts: ReadonlySet<string>): void
  /** A comparison with lists ends that began at this time. */
  compared(begunAt: Date, parts: Fingerprints, isAudit: boolean): void
  settle(): void
  /**
   * The state to store. Throws if the next sync could not read it, so that the one before remains.
   */
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
  const { stream, mode, refresh, byLists, log, ids, now } = settings
  const { service, environment, fields, start, why, replacesOlder = true } = settings
  const mostIds = stored?.rowsCounted ?? undefined
  const keys = createLiveKeys(stored?.keys, { stream: stream.stream, ids, mostIds })
  const latestChanges = createLatestChanges(stored?.latestChanges ?? null)
  const first = mode === 'full_refresh' || stream.replication === 'list' ? LIST : INITIAL
  let wasListMadeDue = stored?.isListDue ?? false
  /** What kind of state was last checked before it left. */
  let checkedKind = ''
  const state: WritableState = {
    ...(stored ?? {
      ...FRESH,
      generation: nextGeneration(0, now),
      replacesOlder,
      listedUntil: byLists?.until ?? null,
      // If an older state did not count rows, their number stays unknown.
      rowsCounted: 0,
    }),
    mode,
    service,
    environment,
    settings: settings.settings,
    fields,
    start,
    cursor: firstCursor(settings.cursor, now) - 1,
    stream,
    refresh,
    isRefreshed: isRefreshed(settings, stored),
    startsNoDelta: byLists !== undefined,
    keys,
    latestChanges,
    position: stored?.position ?? first,
    isContinued: stored !== undefined,
    mayHaveMoved: false,
    begunFrom: streamStart(stored, why),
    get isListDue() {
      const { position, isSettled } = state
      if (wasListMadeDue || position.phase !== 'complete') return wasListMadeDue
      // A list of each sync is compared with the rows of the previous one. Any other read is compared with none; if
      // it found no row, the list that confirms this costs little.
      const isCompared = mode === 'incremental' && position.next === 'list'
      return !isCompared && !isSettled && (state.rowsSoFar ?? 0) === 0
    },
    stamp: (at) => ({ generation: state.generation, cursor: ++state.cursor, now: at }),
    orderMayMove() {
      state.mayHaveMoved = true
    },
    moveTo(position) {
      state.position = position
    },
    beginAnew: (at, position) => beginAnew(at, position),
    startOver(reason, at, from = state.start) {
      const isQuiet = reason.isToldAtEnd === true || reason.isExpected === true
      const say = isQuiet ? log.debug : log.warn
      say(warningOf('starts-over', `${reason.message}; the stream is read from the beginning.`))
      state.start = from
      beginAnew(at, first, reason.isDeadLink === true && mode === 'full_refresh')
      state.begunFrom = streamStart({ wholeRows: state.wholeRows }, reason.why)
    },
    addRows(count) {
      if (state.rowsCounted !== null) state.rowsCounted += count
      if (!state.isSettled && state.position.phase !== 'changes')
        state.rowsSoFar = (state.rowsSoFar ?? 0) + count
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
    forgetParts(parts) {
      state.auditedParts = new Map([...state.auditedParts].filter(([part]) => !parts.has(part)))
    },
    compared(begunAt, parts, isAudit) {
      state.comparedAt = begunAt
      state.auditedParts = parts
      if (isAudit) state.auditedAt = begunAt
    },
    settle() {
      if (!state.isSettled) state.wholeRows = state.rowsSoFar ?? 0
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
  function beginAnew(at: Date, position: Position = first, goesOn = false): void {
    if (mode === 'incremental') keys.beginReading()
    else if (!goesOn) keys.forgetSent()
    if (!goesOn) state.generation = nextGeneration(state.generation, at)
    state.position = position
    state.isContinued = false
    state.mayHaveMoved = false
    state.isRefreshed = false
    state.isSettled = false
    state.replacesOlder = true
    state.auditedParts = new Map()
    latestChanges.forget()
    wasListMadeDue = false
    state.rowsSoFar = 0
  }

  function blob(): StateBlob {
    const encoded = encodedKeys(keys, mode, log)
    const isAtBeginning = encoded.isAtBeginning === true
    const isSettled = state.isSettled && !isAtBeginning
    // Without the rows that were written since, the fingerprints prove nothing.
    if (!keys.isWrittenKnown) state.auditedParts = new Map()
    const values: Record<string, unknown> = {}
    for (const name of VALUES) values[name] = state[name]
    const written = writeState({
      ...(values as unknown as StateValues),
      refresh: refresh ?? null,
      isSettled,
      isListDue: wasListMadeDue,
      latestChanges: latestChanges.encode(),
      rowsSoFar: state.isSettled || isAtBeginning ? null : (state.rowsSoFar ?? 0),
      position: isAtBeginning ? first : state.position,
      keys: encoded,
    })
    // Between pages, only links and ids change.
    const kind = `${state.position.phase} ${isSettled} ${state.generation}`
    if (kind !== checkedKind) {
      const read = readState(written)
      if (read === 'none' || 'unreadable' in read) throw unreadable(read)
      checkedKind = kind
    }
    return written
  }
}

const VALUES = Object.keys(FRESH) as (keyof StateValues)[]

/** The error for a state that the next sync would refuse. */
function unreadable(read: ReturnType<typeof readState>): ConnectorError {
  const why = typeof read === 'object' && 'unreadable' in read ? `: ${read.unreadable}` : ''
  return new ConnectorError(
    'system',
    'state-not-valid',
    `The connector made a state that it could not read again${why}. It is not written, and the next sync continues from the one before; please report this.`,
  )
}

/** See `StreamState.isRefreshed`. */
function isRefreshed({ mode, refresh }: StreamStateSettings, stored: StoredState | undefined) {
  if (mode !== 'full_refresh' || refresh === undefined || stored === undefined) return false
  return stored.position.phase === 'complete' && stored.refresh === refresh
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
  readonly suppression: Suppression
  readonly output: StreamOutput
  readonly log: Log
  readonly observer: SyncObserver | undefined
  /** Shared by all streams of the sync. */
  readonly expiredDeltas: ExpiredDeltas
  /** Set if an inventory is written. */
  readonly inventory: StreamInventory | undefined
  /** What lists have shown of the stream in this sync. */
  readonly parts: ListedParts
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
