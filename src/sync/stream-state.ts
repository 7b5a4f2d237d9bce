import type { Day } from '../ground/days.ts'
import { ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import type { ServerClock } from '../http/clock.ts'
import type { Stamp } from '../protocol/connector.ts'
import { createIdSet } from '../rows/id-set.ts'
import { createLiveKeys } from '../rows/live-keys.ts'
import type { IdBudget, StoredKeys } from '../rows/stored-keys.ts'
import { lossesAt, type PartCounts, partsOf } from './losses.ts'
import type { StreamLog } from './notices.ts'
import { INITIAL, LIST, type Position } from './position.ts'
import type { StateBlob } from './state-fields.ts'
import {
  FRESH,
  fieldDigests,
  readState,
  type StateValues,
  type StoredState,
  withheldIn,
  writeState,
} from './stored-state.ts'
import { continued, fromBeginning } from './stream-start.ts'
import { isDelta, mayChangeKeys, type StreamTask } from './stream-task.ts'

/** Why a read starts over, in a few words and as the clause of a warning. */
export interface StartOver {
  readonly why: string
  readonly message: string
  /** Whether a link died during the read: then a full refresh leaves out rows that it has already sent. */
  readonly isDeadLink?: boolean
  /** Whether there is no warning: it was requested, or the sync reports it at its end, for all streams together. */
  readonly isQuiet?: boolean
}

/** What the state of a read is created with. */
export interface StateTools {
  readonly clock: Pick<ServerClock, 'now'>
  readonly log: StreamLog
  /** Shared by all streams of the sync. */
  readonly ids: IdBudget
}

/** Where a read begins: with values that replace the stored ones, or those of a stream that was never read. */
export interface StateOrigin {
  readonly values: Pick<StateValues, 'service' | 'environment' | 'settings' | 'start' | 'cursor'> &
    Partial<StateValues>
  /** The stored state, or in a few words why the stream is read from the beginning. */
  readonly from: StoredState | string
}

/** The state of the read of one stream; `STATE` in stored-state.ts describes its values. */
export type StreamState = Readonly<ReturnType<typeof createStreamState>>

/** Creates the state of a read. Throws if a stored set of ids cannot be decoded. */
export function createStreamState(
  { values, from }: StateOrigin,
  task: StreamTask,
  { clock, log, ids }: StateTools,
) {
  const now = clock.now()
  const { stream, mode, byLists, fields } = task
  const stored = typeof from === 'string' ? undefined : from
  const refresh = task.refresh ?? null
  const mostIds = stored?.rowsCounted ?? undefined
  const keys = createLiveKeys(stored?.keys, stream.stream, ids, mostIds)
  const first: Position = isDelta(task) ? INITIAL : LIST
  const isSame = mode === 'full_refresh' && refresh !== null && stored?.refresh === refresh
  /** What kind of state was last checked before it left; empty after a value has changed. */
  let checkedKind = ''
  const initial: StateValues = {
    ...FRESH,
    generation: nextGeneration(0, now),
    listedUntil: byLists?.until ?? null,
    // If an older state did not count rows, their number stays unknown.
    rowsCounted: 0,
    ...stored,
    ...values,
    mode,
    refresh,
    fields: fieldDigests(fields),
    cursor: firstCursor(values.cursor, now) - 1,
    rowsSoFar: stored?.isSettled === true ? null : (stored?.rowsSoFar ?? 0),
  }
  const state = {
    ...initial,
    stream,
    keys,
    position: stored?.position ?? first,
    /** Whether an earlier sync has already written all of the full refresh that this sync belongs to. */
    isRefreshed: isSame && stored?.position.phase === 'complete',
    /** See `StreamRequest.byLists`. */
    startsNoDelta: byLists !== undefined,
    /** Whether an earlier process began this read. */
    isContinued: stored !== undefined,
    /** Whether a row may have moved between the pages of this read: their ids do not rise. */
    mayHaveMoved: false,
    /** See `withheldIn`: the rows as they were when this sync began. */
    withheld: stored === undefined ? createIdSet() : withheldIn(stored),
    /** How often this process may have lost the response to a delta link. */
    lostResponses: 0,
    /** Where the read starts, and how many rows are expected. */
    begunFrom: typeof from === 'string' ? fromBeginning(from, null) : continued(from),
    /** The stamp of the next records; each call returns a new cursor. */
    stamp(): Stamp {
      return { generation: state.generation, cursor: ++state.cursor, now: clock.now() }
    },
    /** Notes what was found out about the stream or its read. */
    note(notes: Partial<StateValues & { mayHaveMoved: boolean }>): void {
      const names = Object.keys(notes) as (keyof typeof notes)[]
      if (names.some((name) => state[name] !== notes[name])) checkedKind = ''
      Object.assign(state, notes)
    },
    /**
     * The response to a delta link may have been lost, with changes that the service sends once only: an audit is due, whatever
     * was compared before.
     */
    loseChanges(): void {
      state.mayLackChanges = true
      state.comparedAt = null
      state.lostResponses++
    },
    moveTo(position: Position): void {
      state.position = position
    },
    /** The rows of `LiveKeys.gone` stay, also those of older generations. */
    keepGone(): void {
      if (keys.gone().length > 0) state.replacesOlder = false
      keys.keepGone()
    },
    beginAnew,
    /** Begins a complete read and logs why, with another first day if one is given. */
    startOver(reason: StartOver, start?: Day | null): void {
      const text = `${reason.message}; the stream is read from the beginning.`
      if (reason.isQuiet === true) log.debug(text)
      else log.warn(warningOf('starts-over', text))
      if (start !== undefined) state.start = start
      beginAnew(reason.isDeadLink === true && mode === 'full_refresh')
      state.begunFrom = fromBeginning(reason.why, state.wholeRows)
    },
    /** Adds to the number of rows that were read. */
    addRows(count: number): void {
      if (state.rowsCounted !== null) state.rowsCounted += count
      if (!state.isSettled && state.position.phase !== 'changes')
        state.rowsSoFar = (state.rowsSoFar ?? 0) + count
    },
    /** Everything of the generation has been written. */
    settle(): void {
      if (!state.isSettled) state.wholeRows = state.rowsSoFar
      if (!state.isSettled && state.withheldSince === null) state.leftFrom = null
      state.isSettled = true
      // Rows of a part that was not listed still have them.
      if (state.replacesOlder) state.haveOtherKeys = false
      state.isSuppressionNew = false
      state.rowsSoFar = null
      if (mode === 'full_refresh') keys.forgetSent()
    },
    /** See `LiveKeys.counts`. */
    countRows: (of: 'unseen' | 'all'): PartCounts => keys.counts(of, partsOf(stream)),
    /** The state to store. Throws if the next sync could not read it, so that the one before remains. */
    blob,
  }
  // A read that goes on has added rows.
  if (state.isSettled || state.losses === null)
    state.losses = lossesAt(now, state.losses, state.countRows('all'))
  const { settings = values.settings } = stored ?? {}
  if (stream.nested !== undefined && mayChangeKeys(settings, values.settings))
    state.haveOtherKeys = true
  if (mode === 'incremental' && settings !== values.settings) state.isSuppressionNew = true
  return state

  /**
   * Begins a complete read. A full refresh that goes on keeps its generation, because the rows that it has sent
   * belong to it.
   */
  function beginAnew(goesOn = false): void {
    if (mode === 'incremental') keys.beginReading()
    else if (!goesOn) keys.forgetSent()
    if (!goesOn) state.generation = nextGeneration(state.generation, clock.now())
    const { auditedParts, latestChanges, mayLackChanges, isListDue, isSettled } = FRESH
    Object.assign(state, { auditedParts, latestChanges, mayLackChanges, isListDue, isSettled })
    state.replacesOlder = FRESH.replacesOlder
    state.position = first
    state.isContinued = false
    state.mayHaveMoved = false
    state.isRefreshed = false
    state.rowsSoFar = 0
  }

  function blob(): StateBlob {
    const encoded = encodedKeys()
    // Without the rows that were written since, the fingerprints prove nothing.
    if (!keys.isWrittenKnown) state.auditedParts = FRESH.auditedParts
    const beginning = { position: first, isSettled: false, rowsSoFar: null }
    const known = encoded.isAtBeginning ? { ...state, ...beginning } : state
    const written = writeState(known, encoded)
    // Between pages, only links and ids change.
    const kind = `${state.position.phase} ${known.isSettled} ${state.generation}`
    if (kind !== checkedKind) assertReadable(written)
    checkedKind = kind
    return written
  }

  /** Encodes the keys. Warns if they have just become too many for the state. */
  function encodedKeys(): StoredKeys {
    const wasTracked = keys.isTracked
    const encoded = keys.encode()
    if (wasTracked && !keys.isTracked && mode === 'incremental')
      log.warn(
        warningOf(
          'ids-too-many',
          `the set of live ids is too large for the state, so rows that vanish no longer become deletes. They keep an older _generation than the newest; docs/how-a-sync-works.md has a query that finds them.`,
        ),
      )
    return encoded
  }
}

/** Throws for a state that the next sync would refuse. */
function assertReadable(written: StateBlob): void {
  const read = readState(written)
  if (read !== 'none' && !('unreadable' in read)) return
  const why = read === 'none' ? '' : `: ${read.unreadable}`
  throw new ConnectorError(
    'system',
    'state-not-valid',
    `The connector made a state that it could not read again${why}. It is not written, and the next sync continues from the one before; please report this.`,
  )
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
