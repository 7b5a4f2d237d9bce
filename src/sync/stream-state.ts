import { addDays, type Day, dayOf } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { Stamp, StreamStart } from '../protocol/connector.ts'
import { createLiveKeys, type LiveKeys } from '../rows/live-keys.ts'
import type { IdBudget, StoredKeys } from '../rows/stored-keys.ts'
import type { Stream } from '../streams/collections.ts'
import { lossesAt, type PartCounts, partsOf } from './losses.ts'
import type { StreamLog } from './notices.ts'
import { INITIAL, LIST, type Position } from './position.ts'
import type { StateBlob } from './state-fields.ts'
import {
  FRESH,
  fieldDigests,
  type Mode,
  readState,
  type StateValues,
  type StoredState,
  type UnkeyedState,
  writeState,
} from './stored-state.ts'
import { mayChangeKeys, type StreamTask } from './stream-task.ts'

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

/** What can be noted of a read. */
type Notes = Partial<
  Pick<
    StreamState,
    | 'auditedAt'
    | 'auditedParts'
    | 'comparedAt'
    | 'isListDue'
    | 'keptFrom'
    | 'latestChanges'
    | 'listedUntil'
    | 'losses'
    | 'mayHaveMoved'
    | 'replacesOlder'
    | 'start'
    | 'wasDeltaOffered'
    | 'withheldSince'
  >
>

/** The state of the read of one stream; `STATE` in stored-state.ts describes its values. */
export interface StreamState extends UnkeyedState {
  readonly stream: Stream
  /** Whether an earlier sync has already written all of the full refresh that this sync belongs to. */
  readonly isRefreshed: boolean
  /** See `StreamRequest.byLists`. */
  readonly startsNoDelta: boolean
  readonly keys: LiveKeys
  /** The stamp of the next records; each call returns a new cursor. */
  stamp(now: Date): Stamp
  /** Whether an earlier process began this read. */
  readonly isContinued: boolean
  /** Whether a row may have moved between the pages of this read: their ids do not rise. */
  readonly mayHaveMoved: boolean
  /** The first day to keep, if the warehouse has earlier ones that are to leave it. */
  readonly keptFrom: Day | null
  /** Where the read starts, and how many rows are expected. */
  readonly begunFrom: StreamStart
  note(notes: Notes): void
  moveTo(position: Position): void
  /** Begins a complete read, at the given position or at the first one. */
  beginAnew(now: Date, position?: Position): void
  /** Begins a complete read and logs why, with another first day if one is given. */
  startOver(reason: StartOver, now: Date, start?: Day | null): void
  /** Adds to the number of rows that were read. */
  addRows(count: number): void
  settle(): void
  /** See `LiveKeys.counts`. */
  countRows(of: 'unseen' | 'all'): PartCounts
  /**
   * The state to store. Throws if the next sync could not read it, so that the one before remains.
   */
  blob(): StateBlob
}

/** Why a read starts over, in a few words and as the clause of a warning. */
export interface StartOver {
  readonly why: string
  readonly message: string
  /** Whether a link died during the read: then a full refresh leaves out rows that it has already sent. */
  readonly isDeadLink?: boolean
  /** Whether there is no warning: it was requested, or the sync reports it at its end, for all streams together. */
  readonly isQuiet?: boolean
}

/** The state as this file sees it: all others can only read its fields. */
type WritableState = { -readonly [Field in keyof StreamState]: StreamState[Field] }

/** What the state of a read is created with. */
export interface StateTools {
  /** The service's time. */
  readonly now: Date
  readonly log: StreamLog
  /** Shared by all streams of the sync. */
  readonly ids: IdBudget
}

/** Where a read begins: with values that replace the stored ones, or those of a stream that was never read. */
export interface StateOrigin {
  readonly values: Pick<StateValues, 'service' | 'environment' | 'settings' | 'start' | 'cursor'> &
    Partial<StateValues>
  readonly stored?: StoredState
  /** Why the stream is read from the beginning, in a few words; required if there is no stored state. */
  readonly why?: string
}

/** Creates the state of a read. Throws if a stored set of ids cannot be decoded. */
export function createStreamState(
  { values, stored, why }: StateOrigin,
  { stream, mode, byLists, fields, ...task }: StreamTask,
  { now, log, ids }: StateTools,
): StreamState {
  const refresh = task.refresh ?? null
  const mostIds = stored?.rowsCounted ?? undefined
  const keys = createLiveKeys(stored?.keys, stream.stream, ids, mostIds)
  const first = mode === 'full_refresh' || stream.replication === 'list' ? LIST : INITIAL
  // If an older state did not count rows, their number stays unknown.
  const fresh = { ...FRESH, generation: nextGeneration(0, now), rowsCounted: 0 }
  const isSame = mode === 'full_refresh' && refresh !== null && stored?.refresh === refresh
  /** What kind of state was last checked before it left. */
  let checkedKind = ''
  const state: WritableState = {
    ...(stored ?? { ...fresh, listedUntil: byLists?.until ?? null }),
    ...values,
    mode,
    refresh,
    fields: fieldDigests(fields),
    cursor: firstCursor(values.cursor, now) - 1,
    rowsSoFar: stored?.isSettled === true ? null : (stored?.rowsSoFar ?? 0),
    stream,
    isRefreshed: isSame && stored?.position.phase === 'complete',
    startsNoDelta: byLists !== undefined,
    keys,
    position: stored?.position ?? first,
    isContinued: stored !== undefined,
    mayHaveMoved: false,
    keptFrom: null,
    begunFrom: streamStart(stored, why),
    stamp: (at) => ({ generation: state.generation, cursor: ++state.cursor, now: at }),
    note: (notes) => void Object.assign(state, notes),
    moveTo(position) {
      state.position = position
    },
    beginAnew: (at, position) => beginAnew(at, position),
    startOver(reason, at, from = state.start) {
      const text = `${reason.message}; the stream is read from the beginning.`
      if (reason.isQuiet === true) log.debug(text)
      else log.warn(warningOf('starts-over', text))
      state.start = from
      beginAnew(at, first, reason.isDeadLink === true && mode === 'full_refresh')
      state.begunFrom = streamStart({ wholeRows: state.wholeRows }, reason.why)
    },
    addRows(count) {
      if (state.rowsCounted !== null) state.rowsCounted += count
      if (!state.isSettled && state.position.phase !== 'changes')
        state.rowsSoFar = (state.rowsSoFar ?? 0) + count
    },
    settle() {
      if (!state.isSettled) state.wholeRows = state.rowsSoFar
      Object.assign(state, {
        isSettled: true,
        isListDue: false,
        haveOtherKeys: false,
        rowsSoFar: null,
      })
      if (mode === 'full_refresh') keys.forgetSent()
    },
    countRows: (of) => keys.counts(of, partsOf(stream)),
    blob,
  }
  // A read that goes on has added rows.
  if (state.isSettled || state.losses === null)
    state.losses = lossesAt(now, state.losses, state.countRows('all'))
  const { settings = values.settings } = stored ?? {}
  if (stream.nested !== undefined && mayChangeKeys(settings, values.settings))
    state.haveOtherKeys = true
  return state

  /**
   * Begins a complete read. A full refresh that goes on keeps its generation, because the rows that it has sent
   * belong to it.
   */
  function beginAnew(at: Date, position: Position = first, goesOn = false): void {
    if (mode === 'incremental') keys.beginReading()
    else if (!goesOn) keys.forgetSent()
    if (!goesOn) state.generation = nextGeneration(state.generation, at)
    const { auditedParts, latestChanges, isListDue, isSettled, replacesOlder } = FRESH
    Object.assign(state, { auditedParts, latestChanges, isListDue, isSettled, replacesOlder })
    Object.assign(state, { position, isContinued: false, mayHaveMoved: false, isRefreshed: false })
    state.rowsSoFar = 0
  }

  function blob(): StateBlob {
    const encoded = encodedKeys(keys, mode, log)
    // Without the rows that were written since, the fingerprints prove nothing.
    if (!keys.isWrittenKnown) state.auditedParts = FRESH.auditedParts
    const beginning = { position: first, isSettled: false, rowsSoFar: null }
    const known = encoded.isAtBeginning ? { ...state, ...beginning } : state
    const written = writeState(known, encoded)
    // Between pages, only links and ids change.
    const kind = `${state.position.phase} ${known.isSettled} ${state.generation}`
    if (kind !== checkedKind) {
      const read = readState(written)
      if (read === 'none' || 'unreadable' in read) throw unreadable(read)
      checkedKind = kind
    }
    return written
  }
}

/**
 * The last day of lists. It is not before the last day of an earlier list: the warehouse has these rows, and they
 * must not count as deleted if `future_days` is smaller now.
 */
export function lastDayOf(
  { listedUntil, mode, startsNoDelta }: StreamState,
  futureDays: number,
  now: Date,
): Day {
  const day = addDays(dayOf(now), futureDays)
  const isBound = mode === 'incremental' || startsNoDelta
  return isBound && listedUntil !== null && listedUntil > day ? listedUntil : day
}

/** The error for a state that the next sync would refuse. */
function unreadable(read: ReturnType<typeof readState>): ConnectorError {
  const why = typeof read === 'object' && 'unreadable' in read ? `: ${read.unreadable}` : ''
  return new ConnectorError(
    'system',
    'state-not-valid',
    `The connector made a state that it could not read again${why}. It is not written, and the next sync continues from the one before; please report this.`,
  )
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
