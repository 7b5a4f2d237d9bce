import { DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { IdBudget } from './id-budget.ts'
import { createIdSet, type IdSet, type Key, keyAt } from './id-set.ts'

/** Where the date of a row is: in the delta's window or a list, or in the days before the window. */
export type Place = 'window' | 'backfill'

/** Returns the place of the row at an index of a batch. */
export type PlaceOf = (index: number) => Place

/** The keys as a state stores them; the sets are encoded. */
export interface StoredKeys {
  /** The highest changeVersion so far. Nothing depends on it; it is for operators. */
  readonly highestVersion: string | null
  readonly isTracked: boolean
  /**
   * Set if the sets are those of a read that has found nothing yet, because what it found does not fit into the
   * state.
   */
  readonly isAtBeginning?: true
  readonly window: string | null
  readonly backfill: string | null
  readonly pending: readonly StoredDeletes[]
}

/** Keys that are deleted at the end of the sync unless they are found before. */
export interface StoredDeletes {
  readonly keys: string
  /** True for keys that a complete read has not found; false for keys of a page that was not completed. */
  readonly isUnseen: boolean
}

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
   * the page is requested again, these records may be missing from it.
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
  /** The audit has found the rows of a batch, which is not written. */
  markFound(batch: RecordBatch): void
  /** The rows that the audit has not found so far. */
  notFound(): readonly Key[]
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
  // Four sets are in the state. A key is in one of the first two at most; the other two wait to be deleted.
  /** Rows that the delta's window has, or the list of a stream without a delta. */
  let window = createIdSet(stored?.window, mostIds)
  /** Rows that the lists of the days before the window have. */
  let backfill = createIdSet(stored?.backfill, mostIds)
  /** Keys that the current complete read has not found so far. */
  let unseen = pendingOf(true)
  /** Keys of a page that was interrupted, so that it is unclear whether their rows exist. */
  let doubted = pendingOf(false)
  let highest = stored?.highestVersion ?? null
  let isTracked = stored?.isTracked ?? true
  let isBackfillInDoubt = false
  // Three sets are only of this process.
  /** Keys of the current page that have already been written, while the rest of the page is still to come. */
  let ofThisPage = createIdSet()
  /** Rows whose deletion was reported to this process. */
  let reportedDeleted = createIdSet()
  /** Rows that the audit has not found so far. */
  let unaudited = createIdSet()
  /** No key that was sent is higher than this one. */
  let highestSent = window.size === 0 ? -1 : Number.POSITIVE_INFINITY
  return {
    get isTracked() {
      return isTracked
    },
    get isBackfillInDoubt() {
      return isBackfillInDoubt
    },
    observe,
    skipFound(batch) {
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const wasFound = (window.has(key) || backfill.has(key)) && !unaudited.has(key)
        if (wasFound || reportedDeleted.has(key)) batch.ops[i] = SKIP
      }
    },
    skipSent,
    forgetSent() {
      forgetAllBut(createIdSet())
      highestSent = -1
      isTracked = true
    },
    *living() {
      const doAll = reportedDeleted.size === 0 && doubted.size === 0
      for (const set of [window, backfill])
        for (const keys of set.chunks()) yield doAll ? keys : keys.filter(lives)
    },
    has,
    mayHave: (key) => !isTracked || has(key),
    get highestVersion() {
      return highest
    },
    beginAudit() {
      unaudited = union([window, backfill])
    },
    markFound(batch) {
      if (isPlain(batch)) unaudited.deleteIntegers(batch.keys)
      else for (let i = 0; i < batch.count; i++) unaudited.delete(keyAt(batch, i))
    },
    notFound: () => [...unaudited.keys()],
    markGone(keys) {
      for (const key of keys) {
        for (const set of [window, backfill, unaudited]) set.delete(key)
        unseen.add(key)
      }
    },
    someFound() {
      for (const set of [window, backfill])
        for (const key of set.keys()) if (typeof key === 'number' && !unaudited.has(key)) return key
      return undefined
    },
    get goneCount() {
      if (!isTracked) return 0
      return unseen.size + (isBackfillInDoubt ? 0 : doubted.size)
    },
    pageInterrupted() {
      doubted.addAll(ofThisPage)
      ofThisPage = createIdSet()
    },
    pageEnded() {
      if (ofThisPage.size > 0) ofThisPage = createIdSet()
    },
    beginReading() {
      unseen = union([window, backfill, unseen, doubted, ofThisPage])
      forgetAllBut(unseen)
      isBackfillInDoubt = false
      // After an overflow it is unknown which rows the warehouse has; a new read may fit again.
      isTracked = true
    },
    beginBackfill() {
      isBackfillInDoubt = false
      unseen.addAll(backfill)
      backfill = createIdSet()
    },
    keepUnseen(place, isThere = () => true) {
      const here = place === 'window' ? window : backfill
      const rest = createIdSet()
      for (const key of unseen.keys()) (isThere(key) ? here : rest).add(key)
      const kept = unseen.size - rest.size
      unseen = rest
      return kept
    },
    *gone() {
      if (!isTracked) return
      yield* unseen.keys()
      if (!isBackfillInDoubt) yield* doubted.keys()
    },
    commitDeletes() {
      unseen = createIdSet()
      if (isBackfillInDoubt) return
      for (const key of doubted.keys()) for (const set of [window, backfill]) set.delete(key)
      doubted = createIdSet()
    },
    encode,
  }

  function observe(batch: RecordBatch, place: Place | PlaceOf, mayRepeat = false): void {
    highest = later(highest, batch.highestVersion ?? null)
    if (!isTracked) return
    if (mayRepeat) for (let i = 0; i < batch.count; i++) ofThisPage.add(keyAt(batch, i))
    if (place instanceof Function || !isPlain(batch)) {
      observeEach(batch, place)
      return
    }
    const [here, elsewhere] = place === 'window' ? [window, backfill] : [backfill, window]
    here.addIntegers(batch.keys)
    for (const keys of [elsewhere, unseen, doubted, reportedDeleted, unaudited])
      keys.deleteIntegers(batch.keys)
  }

  function skipSent(batch: RecordBatch): void {
    highest = later(highest, batch.highestVersion ?? null)
    if (!isTracked) return
    const { count, ops, keys } = batch
    // Lists usually come in the order of ids.
    if (isPlain(batch) && isRisingAbove(highestSent, keys)) {
      window.addIntegers(keys)
      highestSent = keys[count - 1] ?? highestSent
      return
    }
    highestSent = Number.POSITIVE_INFINITY
    for (let i = 0; i < count; i++) {
      const key = keyAt(batch, i)
      if (window.has(key)) ops[i] = SKIP
      if (ops[i] === SKIP) continue
      window.add(key)
      if (ops[i] !== UPSERT) reportedDeleted.add(key)
    }
  }

  function observeEach(batch: RecordBatch, place: Place | PlaceOf): void {
    for (let i = 0; i < batch.count; i++) {
      const op = batch.ops[i]
      const key = keyAt(batch, i)
      for (const set of [unseen, doubted, unaudited]) set.delete(key)
      if (op === SKIP) continue
      window.delete(key)
      if (op === DELETE && backfill.has(key)) {
        batch.ops[i] = SKIP
        isBackfillInDoubt = true
        continue
      }
      const wasBefore = backfill.has(key)
      backfill.delete(key)
      if (op !== UPSERT) {
        reportedDeleted.add(key)
        continue
      }
      reportedDeleted.delete(key)
      const here = place instanceof Function ? place(i) : place
      // A change may report a date on which the row was before the lists found it.
      if (here === 'window' && wasBefore && place instanceof Function) isBackfillInDoubt = true
      if (here === 'window') window.add(key)
      else backfill.add(key)
    }
  }

  /** The stored deletions of a kind; older states may have several groups of it. */
  function pendingOf(unseen: boolean): IdSet {
    const [first, ...others] = stored?.pending.filter(({ isUnseen }) => isUnseen === unseen) ?? []
    const all = createIdSet(first?.keys, mostIds)
    for (const { keys } of others) all.addAll(createIdSet(keys, mostIds))
    return all
  }

  function has(key: Key): boolean {
    return (window.has(key) || backfill.has(key)) && lives(key)
  }

  function lives(key: Key): boolean {
    return !reportedDeleted.has(key) && !doubted.has(key)
  }

  function forgetAllBut(left: IdSet): void {
    window = createIdSet()
    backfill = createIdSet()
    unseen = left
    doubted = createIdSet()
    ofThisPage = createIdSet()
    reportedDeleted = createIdSet()
    unaudited = createIdSet()
  }

  function encode(): StoredKeys {
    const stored: StoredKeys = {
      highestVersion: highest,
      isTracked,
      window: window.encode(),
      backfill: backfill.encode(),
      pending: [
        ...deletesOf(unseen, true),
        ...deletesOf(ofThisPage.size === 0 ? doubted : union([doubted, ofThisPage]), false),
      ],
    }
    if (ids.take(stream, charactersOf(stored))) return stored
    // In the middle of a read there are two sets instead of one; at its beginning, one is enough.
    const atBeginning: StoredKeys = {
      ...stored,
      isAtBeginning: true,
      window: null,
      backfill: null,
      pending: deletesOf(union([window, backfill, unseen, doubted, ofThisPage]), true),
    }
    if (unseen.size > 0 && ids.take(stream, charactersOf(atBeginning))) return atBeginning
    isTracked = false
    forgetAllBut(createIdSet())
    return encode()
  }
}

/** The number of characters that the sets take in the state. */
export function charactersOf({
  window,
  backfill,
  pending,
}: Pick<StoredKeys, 'window' | 'backfill' | 'pending'>): number {
  const sets = [window, backfill, ...pending.map(({ keys }) => keys)]
  return sets.reduce((sum, text) => sum + (text?.length ?? 0), 0)
}

function deletesOf(set: IdSet, isUnseen: boolean): StoredDeletes[] {
  const keys = set.encode()
  return keys === null ? [] : [{ keys, isUnseen }]
}

function union(sets: readonly IdSet[]): IdSet {
  const all = createIdSet()
  for (const keys of sets) all.addAll(keys)
  return all
}

/** Whether all records of a batch are upserts with integer keys, which is the common and fast case. */
function isPlain({ count, ops, keys }: RecordBatch): boolean {
  for (let i = 0; i < count; i++) {
    if (ops[i] !== UPSERT || Number.isNaN(keys[i])) return false
  }
  return true
}

function isRisingAbove(bound: number, keys: Float64Array): boolean {
  let last = bound
  for (const key of keys) {
    if (key <= last) return false
    last = key
  }
  return true
}

function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
