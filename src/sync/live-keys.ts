import { DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { createIdSet, type IdSet, isRising, type Key, keyAt } from './id-set.ts'
import {
  allKeys,
  charactersOf,
  emptySets,
  encodeAtBeginning,
  encodeSets,
  type IdBudget,
  type KeySets,
  readSets,
  type StoredKeys,
  union,
} from './stored-keys.ts'

/** If two answers contradict each other about more rows than this, none of them is unconfirmed. */
export const MOST_UNCONFIRMED = 100

/** Where the date of a row is: in the delta's window or a list, or in the days before the window. */
export type Place = 'window' | 'backfill'

/** Returns the place of the row at an index of a batch. */
export type PlaceOf = (index: number) => Place

/**
 * The keys of the rows that the warehouse has of one stream. They are used to find deleted rows: a complete read
 * finds every row that exists, and the others are deleted.
 */
export interface LiveKeys {
  /** False if the sets became too large for the state; then deleted rows are no longer found. */
  readonly isTracked: boolean
  /**
   * True if a backfill has to decide about a row: after a Delete of a row from before the window, which may only have
   * moved into it, or after a change that puts such a row into the window, which may be an older one.
   */
  readonly isBackfillInDoubt: boolean
  /**
   * Notes a batch that is about to be written. A record that must not be written gets the op SKIP: a Delete of a row
   * that the backfill has. A record that already has the op SKIP only says that its row exists. If `place` is a
   * function, rows may move between the two places. `mayRepeat` says that the rest of the page is still to come: if
   * the page is requested again, these records may be missing from it. Rows that a list of the days before the window has
   * although the delta had them in it are unconfirmed, unless they are many: the list may be out of date.
   */
  observe(batch: RecordBatch, place: Place | PlaceOf, mayRepeat?: boolean): void
  /** The current page was interrupted, and will be requested again. */
  pageInterrupted(): void
  /** The current page is complete. */
  pageEnded(): void
  /** Begins a complete read, which finds all rows that exist. */
  beginReading(): void
  /** Begins a read of all days before the window. */
  beginBackfill(): void
  /**
   * A part of the stream could not be listed, so rows that no read has found may still exist there: all of them, or
   * those for which `isThere` returns true. Returns their number.
   */
  keepUnseen(place: Place, isThere?: (key: Key) => boolean): number
  /**
   * Used when the rows that a complete read did not find are checked. Sets the op to SKIP for records whose row it
   * has found, or whose deletion was reported. Must be called before `observe`.
   */
  skipFound(batch: RecordBatch): void
  /**
   * Used by full refreshes instead of `observe` and `skipFound`. Sets the op to SKIP for records whose row was
   * already sent, and notes the others.
   */
  skipSent(batch: RecordBatch): void
  /** A full refresh begins or has ended: no row counts as sent. */
  forgetSent(): void
  /** The rows that the warehouse has after the deletions of `gone`, in chunks. */
  living(): Iterable<Uint32Array | readonly Key[]>
  /** Whether a row is among `living`. */
  has(key: Key): boolean
  /** Whether a row may be among `living`: any row may if the keys are not tracked. */
  mayHave(key: Key): boolean
  /** See `StoredKeys.highestVersion`. */
  readonly highestVersion: string | null
  /**
   * Begins an audit, which has to find every living row, or know of its deletion. The state contains nothing of it.
   */
  beginAudit(): void
  /**
   * Rows may not exist, although they were found: they count as existing, and the next sync has to look for them. No
   * audit is under way.
   */
  leaveUnconfirmed(keys: readonly Key[]): void
  /** The audit has found the rows of a batch, which is not written. */
  markFound(batch: RecordBatch): void
  /** The unconfirmed rows of this sync and the one before; of an audit, those that it has not found so far. */
  unconfirmed(): readonly Key[]
  /** Marks some of these rows as deleted. */
  markGone(keys: readonly Key[]): void
  /** Any row with an integer key that was found; undefined if there is none. */
  someFound(): number | undefined
  /** The rows to delete. Rows in doubt are among them only if no backfill will decide about them. */
  gone(): Iterable<Key>
  /** The number of rows in `gone`. */
  readonly goneCount: number
  /** The deletions of `gone` have been written. */
  commitDeletes(): void
  /**
   * The keys for a state at this moment: records of an incomplete page are in doubt. If the sets no longer fit into
   * the state, they are given up, and `isTracked` is false from then on.
   */
  encode(): StoredKeys
}

export interface LiveKeysSettings {
  readonly stream: string
  /** Shared by all streams of the sync. */
  readonly ids: IdBudget
  /** The most ids that a stored set may contain; by default any number. */
  readonly mostIds?: number | undefined
}

/** Creates the keys of a stream. Throws if a stored set cannot be decoded or contains too many ids. */
export function createLiveKeys(
  stored: StoredKeys | undefined,
  { stream, ids, mostIds }: LiveKeysSettings,
): LiveKeys {
  let sets = readSets(stored, mostIds)
  let highestVersion = stored?.highestVersion ?? null
  let isTracked = stored?.isTracked ?? true
  let isBackfillInDoubt = false
  let isAuditing = false
  /** No key that was sent is higher than this one. */
  let highestSent = sets.window.size === 0 ? -1 : Number.POSITIVE_INFINITY
  const has = (key: Key) => isKnown(key, sets) && lives(key, sets)
  return {
    get isTracked() {
      return isTracked
    },
    get isBackfillInDoubt() {
      return isBackfillInDoubt
    },
    get highestVersion() {
      return highestVersion
    },
    observe(batch, place, mayRepeat = false) {
      highestVersion = later(highestVersion, batch.highestVersion ?? null)
      if (!isTracked) return
      if (mayRepeat) for (let i = 0; i < batch.count; i++) sets.ofThisPage.add(keyAt(batch, i))
      const contradicted = place === 'backfill' && !isAuditing ? keysIn(sets.window, batch) : []
      if (!(place instanceof Function) && isPlain(batch)) observePlain(batch.keys, place, sets)
      else if (observeEach(batch, place, sets)) isBackfillInDoubt = true
      if (sets.unconfirmed.size + contradicted.length > MOST_UNCONFIRMED) return
      for (const key of contradicted) sets.unconfirmed.add(key)
    },
    pageInterrupted() {
      sets.doubted.addAll(sets.ofThisPage)
      sets.ofThisPage = createIdSet()
    },
    pageEnded() {
      if (sets.ofThisPage.size > 0) sets.ofThisPage = createIdSet()
    },
    beginReading() {
      sets = emptySets(allKeys(sets))
      isBackfillInDoubt = false
      // After an overflow it is unknown which rows the warehouse has; a new read may fit again.
      isTracked = true
    },
    beginBackfill() {
      isBackfillInDoubt = false
      sets.unseen.addAll(sets.backfill)
      sets.backfill = createIdSet()
    },
    keepUnseen(place, isThere = () => true) {
      const rest = createIdSet()
      for (const key of sets.unseen.keys()) (isThere(key) ? sets[place] : rest).add(key)
      const kept = sets.unseen.size - rest.size
      sets.unseen = rest
      return kept
    },
    skipFound(batch) {
      const { reportedDeleted, unconfirmed } = sets
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const wasFound = isKnown(key, sets) && !unconfirmed.has(key)
        if (wasFound || reportedDeleted.has(key)) batch.ops[i] = SKIP
      }
    },
    skipSent(batch) {
      highestVersion = later(highestVersion, batch.highestVersion ?? null)
      if (isTracked) highestSent = skipRepeats(batch, highestSent, sets)
    },
    forgetSent() {
      sets = emptySets()
      highestSent = -1
      isTracked = true
    },
    *living() {
      const { window, backfill, reportedDeleted, doubted } = sets
      const doAll = reportedDeleted.size === 0 && doubted.size === 0
      for (const set of [window, backfill])
        for (const keys of set.chunks()) yield doAll ? keys : keys.filter((key) => lives(key, sets))
    },
    has,
    mayHave: (key) => !isTracked || has(key),
    leaveUnconfirmed(keys) {
      for (const key of keys) sets.unconfirmed.add(key)
    },
    beginAudit() {
      isAuditing = true
      sets.unconfirmed = union([sets.window, sets.backfill])
    },
    markFound(batch) {
      if (isPlain(batch)) sets.unconfirmed.deleteIntegers(batch.keys)
      else for (let i = 0; i < batch.count; i++) sets.unconfirmed.delete(keyAt(batch, i))
    },
    unconfirmed: () => [...sets.unconfirmed.keys()],
    markGone(keys) {
      const { window, backfill, unconfirmed, unseen } = sets
      for (const key of keys) {
        for (const set of [window, backfill, unconfirmed]) set.delete(key)
        unseen.add(key)
      }
    },
    someFound() {
      for (const set of [sets.window, sets.backfill])
        for (const key of set.keys())
          if (typeof key === 'number' && !sets.unconfirmed.has(key)) return key
      return undefined
    },
    *gone() {
      if (!isTracked) return
      yield* sets.unseen.keys()
      if (!isBackfillInDoubt) yield* sets.doubted.keys()
    },
    get goneCount() {
      if (!isTracked) return 0
      return sets.unseen.size + (isBackfillInDoubt ? 0 : sets.doubted.size)
    },
    commitDeletes() {
      sets.unseen = createIdSet()
      if (isBackfillInDoubt) return
      for (const key of sets.doubted.keys())
        for (const set of [sets.window, sets.backfill]) set.delete(key)
      sets.doubted = createIdSet()
    },
    encode() {
      const whole = encodeSets(sets, isAuditing)
      if (ids.take(stream, charactersOf(whole))) return { highestVersion, isTracked, ...whole }
      // In the middle of a read there are two sets instead of one; at its beginning, one is enough.
      const atBeginning = sets.unseen.size > 0 ? encodeAtBeginning(sets) : undefined
      if (atBeginning !== undefined && ids.take(stream, charactersOf(atBeginning)))
        return { highestVersion, isTracked, ...atBeginning }
      isTracked = false
      sets = emptySets()
      return { highestVersion, isTracked, ...encodeSets(sets) }
    },
  }
}

/** The keys of a batch that a set has. */
function keysIn(set: IdSet, batch: RecordBatch): Key[] {
  const found: Key[] = []
  if (set.size === 0) return found
  for (let i = 0; i < batch.count; i++) {
    const key = keyAt(batch, i)
    if (batch.ops[i] !== SKIP && set.has(key)) found.push(key)
  }
  return found
}

function isKnown(key: Key, { window, backfill }: KeySets): boolean {
  return window.has(key) || backfill.has(key)
}

/** Whether a known row exists, as far as this process has heard. */
function lives(key: Key, { reportedDeleted, doubted }: KeySets): boolean {
  return !reportedDeleted.has(key) && !doubted.has(key)
}

/** Notes upserts with integer keys that are all in one place. */
function observePlain(keys: Float64Array, place: Place, sets: KeySets): void {
  const { window, backfill, unseen, doubted, reportedDeleted, unconfirmed } = sets
  const elsewhere = place === 'window' ? backfill : window
  sets[place].addIntegers(keys)
  for (const set of [elsewhere, unseen, doubted, reportedDeleted, unconfirmed])
    set.deleteIntegers(keys)
}

/** Notes records one by one. Returns whether a backfill has to decide about one of them. */
function observeEach(batch: RecordBatch, place: Place | PlaceOf, sets: KeySets): boolean {
  const { window, backfill, unseen, doubted, reportedDeleted, unconfirmed } = sets
  const mayMove = place instanceof Function
  let isInDoubt = false
  for (let i = 0; i < batch.count; i++) {
    const op = batch.ops[i]
    const key = keyAt(batch, i)
    unseen.delete(key)
    doubted.delete(key)
    unconfirmed.delete(key)
    if (op === SKIP) continue
    const wasBefore = backfill.has(key)
    window.delete(key)
    if (op === DELETE && wasBefore) {
      batch.ops[i] = SKIP
      isInDoubt = true
      continue
    }
    backfill.delete(key)
    if (op !== UPSERT) {
      reportedDeleted.add(key)
      continue
    }
    reportedDeleted.delete(key)
    const here = mayMove ? place(i) : place
    sets[here].add(key)
    // A change may report a date on which the row was before the lists found it.
    if (here === 'window' && wasBefore && mayMove) isInDoubt = true
  }
  return isInDoubt
}

/**
 * Skips the records of a full refresh whose rows were already sent, and notes the others. No key that was sent is
 * higher than `highestSent`; returns that bound for the next batch.
 */
function skipRepeats(batch: RecordBatch, highestSent: number, sets: KeySets): number {
  const { count, ops, keys } = batch
  const { window, reportedDeleted } = sets
  // Lists usually come in the order of ids.
  if (isPlain(batch) && isRising(keys, highestSent)) {
    window.addIntegers(keys)
    return keys[count - 1] ?? highestSent
  }
  for (let i = 0; i < count; i++) {
    const key = keyAt(batch, i)
    if (window.has(key)) ops[i] = SKIP
    if (ops[i] === SKIP) continue
    window.add(key)
    if (ops[i] !== UPSERT) reportedDeleted.add(key)
  }
  return Number.POSITIVE_INFINITY
}

/** Whether all records of a batch are upserts with integer keys, which is the common and fast case. */
function isPlain({ count, ops, keys }: RecordBatch): boolean {
  for (let i = 0; i < count; i++) {
    if (ops[i] !== UPSERT || Number.isNaN(keys[i])) return false
  }
  return true
}

function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
