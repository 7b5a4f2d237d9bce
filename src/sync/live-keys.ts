import { DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { IdBudget } from './id-budget.ts'
import { createIdSet, type IdSet, type Key, keyAt } from './id-set.ts'

/** Where a row lives: in the delta's window or a list, or in the days before the window. */
export type Place = 'window' | 'backfill'

/** Where the row at an index of a batch lives. */
export type PlaceOf = (index: number) => Place

/** What a bookmark holds of the keys; the sets are encoded. */
export interface StoredKeys {
  /** The highest changeVersion that was met. It decides nothing: operators read it. */
  readonly highestVersion: string | null
  readonly isTracked: boolean
  /** Set where the sets are those of a reading that has met nothing yet, because what it met has no room. */
  readonly isAtBeginning?: true
  readonly window: string | null
  readonly backfill: string | null
  readonly pending: readonly StoredDeletes[]
}

/** Keys that are deleted at the end of the sync unless they are met before. */
export interface StoredDeletes {
  readonly keys: string
  /** True for keys that a complete reading has not met; false for those whose last word is in doubt. */
  readonly isUnseen: boolean
}

/**
 * The keys that the warehouse holds of one stream, by which rows that vanish are noticed: a complete
 * reading meets every row that lives; what it does not meet is gone.
 */
export interface LiveKeys {
  /** False when the sets outgrew the state: rows that vanish are then not noticed. */
  readonly isTracked: boolean
  /**
   * True when a Delete came of a row that was seen before the window, which may only be its move
   * there, or a change that puts such a row into the window, which may be older. The next backfill decides.
   */
  readonly isBackfillInDoubt: boolean
  /**
   * Takes note of a batch that is about to be written. Sets the op of a record to SKIP that must not
   * be written: a Delete of a row that the backfill holds. One that is to be skipped already tells that its
   * row is there, and no more. A `place` that is asked row by row means that rows may move between the two.
   * `mayRepeat` when the rest of the page is still to come: should it be requested again, these records may
   * be missing from it.
   */
  observe(batch: RecordBatch, place: Place | PlaceOf, mayRepeat?: boolean): void
  /** The page at hand was interrupted, and will be requested again. */
  pageInterrupted(): void
  /** The page at hand is complete. */
  pageEnded(): void
  /** A reading begins that meets everything that lives. */
  beginReading(): void
  /** A reading of all days before the window begins. */
  beginBackfill(): void
  /**
   * A part of the whole could not be listed: what no reading has met may live there, all of it or the
   * keys that `isThere` tells. Answers how many keys that are.
   */
  keepUnseen(place: Place, isThere?: (key: Key) => boolean): number
  /**
   * For a second look at what a complete reading did not meet: sets the op to SKIP of each record whose row
   * it has met, or of which it was told that it is gone. To be called before `observe`.
   */
  leaveOutMet(batch: RecordBatch): void
  /**
   * For a full refresh, in place of the two: sets the op to SKIP of each record whose row it has sent, and
   * takes note of the others.
   */
  leaveOutSent(batch: RecordBatch): void
  /** A full refresh begins, or has ended: nothing was sent. */
  forgetSent(): void
  /** The rows that the warehouse holds once what `gone` tells is deleted, many at a time. */
  living(): Iterable<Uint32Array | readonly Key[]>
  /** Whether a row is one of them. */
  has(key: Key): boolean
  /** Whether a row may be one of them: any row may, when the keys are not tracked. */
  mayHave(key: Key): boolean
  /** See `StoredKeys.highestVersion`. */
  readonly highestVersion: string | null
  /** An audit begins: what lives is to be met once more, or told of. Bookmarks know nothing of that. */
  beginAudit(): void
  /** The audit has met a batch, which is not written. */
  meet(batch: RecordBatch): void
  /** What the audit has not met so far. */
  unmet(): readonly Key[]
  /** These of them are gone. */
  unmetAreGone(keys: readonly Key[]): void
  /** A row that was met, by an integer; undefined if there is none. */
  someMet(): number | undefined
  /** The rows that are gone; those in doubt only when no backfill is to decide about them. */
  gone(): Iterable<Key>
  /** How many these are. */
  readonly goneCount: number
  /** What `gone` told has been written. */
  commitDeletes(): void
  /**
   * What a bookmark of this moment holds: records of a page that is not complete are in doubt. Sets that
   * have outgrown their room are given up: `isTracked` is false from then on.
   */
  encode(): StoredKeys
}

export interface LiveKeysSettings {
  readonly stream: string
  /** Shared by the streams of the sync. */
  readonly ids: IdBudget
  /** How many ids a stored set may stand for; any number if left out. */
  readonly mostIds?: number | undefined
}

/** Throws when a stored set cannot be decoded, or stands for too many ids. */
export function createLiveKeys(
  stored: StoredKeys | undefined,
  { stream, ids, mostIds }: LiveKeysSettings,
): LiveKeys {
  let window = createIdSet(stored?.window, mostIds)
  let backfill = createIdSet(stored?.backfill, mostIds)
  /** Keys that a complete reading has not met so far. */
  let unseen = pendingOf(true)
  /** Keys whose last word is in doubt: they were met on a page that broke off. */
  let doubted = pendingOf(false)
  let highest = stored?.highestVersion ?? null
  let isTracked = stored?.isTracked ?? true
  let isBackfillInDoubt = false
  /** Records of the page at hand that have been written, while the rest of it is to come. */
  let ofThisPage = createIdSet()
  /** Rows of which this process was told that they are gone. */
  let toldGone = createIdSet()
  /** Rows that an audit has not met so far. */
  let unaudited = createIdSet()
  /** No key that was sent is above this one. */
  let highestSent = window.size === 0 ? -1 : Number.POSITIVE_INFINITY
  return {
    get isTracked() {
      return isTracked
    },
    get isBackfillInDoubt() {
      return isBackfillInDoubt
    },
    observe,
    leaveOutMet(batch) {
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const isMet = (window.has(key) || backfill.has(key)) && !unaudited.has(key)
        if (isMet || toldGone.has(key)) batch.ops[i] = SKIP
      }
    },
    leaveOutSent,
    forgetSent() {
      forgetAllBut(createIdSet())
      highestSent = -1
      isTracked = true
    },
    *living() {
      const doAll = toldGone.size === 0 && doubted.size === 0
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
    meet(batch) {
      if (isPlain(batch)) unaudited.deleteIntegers(batch.keys)
      else for (let i = 0; i < batch.count; i++) unaudited.delete(keyAt(batch, i))
    },
    unmet: () => [...unaudited.keys()],
    unmetAreGone(keys) {
      for (const key of keys) {
        for (const set of [window, backfill, unaudited]) set.delete(key)
        unseen.add(key)
      }
    },
    someMet() {
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
      // After an overflow nobody knows what the warehouse holds; a new reading may fit again.
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
    for (const keys of [elsewhere, unseen, doubted, toldGone, unaudited])
      keys.deleteIntegers(batch.keys)
  }

  function leaveOutSent(batch: RecordBatch): void {
    highest = later(highest, batch.highestVersion ?? null)
    if (!isTracked) return
    const { count, ops, keys } = batch
    // Lists come in the order of ids, as a rule.
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
      if (ops[i] !== UPSERT) toldGone.add(key)
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
        toldGone.add(key)
        continue
      }
      toldGone.delete(key)
      const here = place instanceof Function ? place(i) : place
      // A log of changes may tell of a day on which the row was before the lists met it.
      if (here === 'window' && wasBefore && place instanceof Function) isBackfillInDoubt = true
      if (here === 'window') window.add(key)
      else backfill.add(key)
    }
  }

  /** The stored deletes of a kind; states of before may have several groups of it. */
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
    return !toldGone.has(key) && !doubted.has(key)
  }

  function forgetAllBut(left: IdSet): void {
    window = createIdSet()
    backfill = createIdSet()
    unseen = left
    doubted = createIdSet()
    ofThisPage = createIdSet()
    toldGone = createIdSet()
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
    // In the middle of a reading there are two sets of what was one; nothing but a beginning needs no more than one.
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

/** How many characters of the state the sets take. */
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

/** Whether all records of a batch live and have integer keys: the common case and the fast one. */
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
