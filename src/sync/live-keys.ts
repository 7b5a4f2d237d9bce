import { type Batch, DELETE, SKIP, SOFT_DELETE } from '../records/record-batch.ts'
import { createIdSet, type IdSet, type Key } from './id-set.ts'

/**
 * What the sets of ids of all streams may take of the state together, in characters. Orchestrators
 * pass the whole state of a connection in messages of at most 2 MB; the rest is for what else a
 * bookmark holds.
 */
const ALL_CHARACTERS = 1_900_000
/** What each stream may take whatever the others do. */
const CHARACTERS_PER_STREAM = 20_000

/** Shares the room that the state has for ids among the streams of a sync, by what each needs. */
export interface IdBudget {
  /**
   * Takes so many characters for a stream in place of what it had before. False, and it has none,
   * when the others leave no room for them.
   */
  take(stream: string, characters: number): boolean
}

/** `stored` has what each stream of the sync takes at its beginning. */
export function createIdBudget(stored: ReadonlyMap<string, number>): IdBudget {
  const taken = new Map(stored)
  const shared = ALL_CHARACTERS - taken.size * CHARACTERS_PER_STREAM
  return {
    take(stream, characters) {
      taken.set(stream, 0)
      const others = [...taken.values()].reduce((sum, size) => sum + aboveOwn(size), 0)
      const fits = characters <= CHARACTERS_PER_STREAM || others + aboveOwn(characters) <= shared
      if (fits) taken.set(stream, characters)
      return fits
    },
  }
}

function aboveOwn(characters: number): number {
  return Math.max(0, characters - CHARACTERS_PER_STREAM)
}

/** Where a row lives: in the delta's window or a list, or in the days before the window. */
export type Place = 'window' | 'backfill'

/** Where the row at an index of a batch lives. */
export type PlaceOf = (index: number) => Place

/** Keys that are deleted at the end of the sync, with this changeVersion, unless they are met before. */
interface PendingDeletes {
  readonly keys: IdSet
  readonly version: string | null
  /** True for keys that a complete reading has not met; false for those whose last word is in doubt. */
  readonly isUnseen: boolean
}

/** What a bookmark holds of the keys; sets and pending deletes are encoded. */
export interface StoredKeys {
  readonly highestVersion: string | null
  readonly isTracked: boolean
  readonly window: string | null
  readonly backfill: string | null
  readonly pending: readonly StoredDeletes[]
}

/** `PendingDeletes` with its keys encoded. */
export interface StoredDeletes {
  readonly keys: string
  readonly version: string | null
  readonly isUnseen: boolean
}

/**
 * The keys that the warehouse holds of one stream, by which rows that vanish are noticed.
 *
 * A complete reading meets every row that lives; what it does not meet is gone. A delete that we
 * derive must win against every version that was loaded and lose against every later one, so it
 * carries the highest changeVersion that was known when its keys became pending.
 */
export interface LiveKeys {
  /** False when the sets outgrew the state: rows that vanish are then not noticed. */
  readonly isTracked: boolean
  /**
   * True when a Delete came that may only be a row's move before the window: of a row that was seen
   * there, or one that is older than what was seen meanwhile. The next backfill decides.
   */
  readonly isBackfillInDoubt: boolean
  /**
   * Takes note of a batch that is about to be written. Sets the op of a record to SKIP that must not
   * be written: a Delete of a row that the backfill holds. A `place` that is asked row by row means
   * that rows may move between the two. `mayRepeat` when the rest of the page is still to come: should
   * it be requested again, these records may be missing from it.
   */
  observe(batch: Batch, place: Place | PlaceOf, mayRepeat?: boolean): void
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
  /** The rows that are gone; those in doubt only when no backfill is to decide about them. */
  gone(): readonly PendingDeletes[]
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
  let pending: readonly PendingDeletes[] = (stored?.pending ?? []).map(({ keys, ...rest }) => ({
    ...rest,
    keys: createIdSet(keys, mostIds),
  }))
  let highest = stored?.highestVersion ?? null
  let isTracked = stored?.isTracked ?? true
  let isBackfillInDoubt = false
  /** Records of the page at hand that have been written, while the rest of it is to come. */
  let ofThisPage = createIdSet()
  return {
    get isTracked() {
      return isTracked
    },
    get isBackfillInDoubt() {
      return isBackfillInDoubt
    },
    observe,
    pageInterrupted() {
      pending = withDoubts(ofThisPage)
      ofThisPage = createIdSet()
    },
    pageEnded() {
      if (ofThisPage.size > 0) ofThisPage = createIdSet()
    },
    beginReading,
    beginBackfill() {
      isBackfillInDoubt = false
      if (backfill.size === 0) return
      pending = [...pending, { keys: backfill, version: highest, isUnseen: true }]
      backfill = createIdSet()
    },
    keepUnseen,
    gone: () => (isTracked ? pending.filter(isDecided) : []),
    commitDeletes() {
      pending = pending.filter((deletes) => !isDecided(deletes))
    },
    encode,
  }

  function observe(batch: Batch, place: Place | PlaceOf, mayRepeat = false): void {
    const before = highest
    highest = later(highest, batch.highestVersion ?? null)
    if (!isTracked) return
    if (mayRepeat) for (let i = 0; i < batch.count; i++) ofThisPage.add(keyAt(batch, i))
    if (place instanceof Function || !isPlain(batch)) {
      observeEach(batch, place, before)
      return
    }
    const [here, elsewhere] = place === 'window' ? [window, backfill] : [backfill, window]
    here.addIntegers(batch.keys)
    elsewhere.deleteIntegers(batch.keys)
    for (const { keys } of pending) keys.deleteIntegers(batch.keys)
  }

  /** `seen` is the highest version before the batch. */
  function observeEach(batch: Batch, place: Place | PlaceOf, seen: string | null): void {
    const mayMove = place instanceof Function
    const hasDeletes = batch.ops.includes(DELETE)
    const tooLow = createIdSet()
    const all = [window, backfill, tooLow, ...pending.map(keysOf)]
    for (let i = 0; i < batch.count; i++) {
      const op = batch.ops[i]
      const key = keyAt(batch, i)
      if (op === DELETE && backfill.has(key)) {
        batch.ops[i] = SKIP
        isBackfillInDoubt = true
        window.delete(key)
        continue
      }
      for (const keys of all) keys.delete(key)
      if (op === DELETE) {
        const version = batch.versionText(i)
        // The service may send a deletion with a lower changeVersion than the row's last one.
        if (seen !== null && (version === undefined || version < seen)) tooLow.add(key)
      } else if (op !== SOFT_DELETE) {
        const here = mayMove ? place(i) : place
        if (here === 'window') window.add(key)
        else backfill.add(key)
      }
      if (hasDeletes) seen = later(seen, batch.versionText(i) ?? null)
    }
    if (tooLow.size > 0) isBackfillInDoubt ||= mayMove
    // They are deleted once more, above everything that was loaded with them.
    pending = withDoubts(tooLow)
  }

  /** The pending deletes with those of `keys`, all doubts under the version of now. */
  function withDoubts(keys: IdSet): readonly PendingDeletes[] {
    if (keys.size === 0) return pending
    const doubts = createIdSet()
    for (const group of [...pending.filter(({ isUnseen }) => !isUnseen).map(keysOf), keys]) {
      doubts.addAll(group)
    }
    const unseen = pending.filter(({ isUnseen }) => isUnseen)
    return [...unseen, { keys: doubts, version: highest, isUnseen: false }]
  }

  function beginReading(): void {
    const all = createIdSet()
    for (const keys of [window, backfill, ofThisPage, ...pending.map(keysOf)]) all.addAll(keys)
    pending = all.size === 0 ? [] : [{ keys: all, version: highest, isUnseen: true }]
    window = createIdSet()
    backfill = createIdSet()
    ofThisPage = createIdSet()
    isBackfillInDoubt = false
    // After an overflow nobody knows what the warehouse holds; a new reading may fit again.
    isTracked = true
  }

  function keepUnseen(place: Place, isThere: (key: Key) => boolean = () => true): number {
    const here = place === 'window' ? window : backfill
    let kept = 0
    pending = pending.map((group) => {
      if (!group.isUnseen) return group
      const rest = createIdSet()
      for (const key of group.keys.keys()) (isThere(key) ? here : rest).add(key)
      kept += group.keys.size - rest.size
      return { ...group, keys: rest }
    })
    return kept
  }

  function isDecided({ isUnseen }: PendingDeletes): boolean {
    return isUnseen || !isBackfillInDoubt
  }

  function encode(): StoredKeys {
    const stored: StoredKeys = {
      highestVersion: highest,
      isTracked,
      window: window.encode(),
      backfill: backfill.encode(),
      pending: withDoubts(ofThisPage).flatMap(({ keys, ...rest }) => {
        const encoded = keys.encode()
        return encoded === null ? [] : [{ ...rest, keys: encoded }]
      }),
    }
    const sets = [stored.window, stored.backfill, ...stored.pending.map(({ keys }) => keys)]
    const characters = sets.reduce((sum, text) => sum + (text?.length ?? 0), 0)
    if (ids.take(stream, characters)) return stored
    isTracked = false
    window = createIdSet()
    backfill = createIdSet()
    ofThisPage = createIdSet()
    pending = []
    return encode()
  }
}

function keysOf({ keys }: PendingDeletes): IdSet {
  return keys
}

/** The key of a record of a batch, as the sets hold it. */
function keyAt(batch: Batch, i: number): Key {
  const key = batch.keys[i] as number
  return Number.isNaN(key) ? batch.keyText(i) : key
}

/** Whether all records of a batch live and have integer keys: the common case and the fast one. */
function isPlain({ count, ops, keys }: Batch): boolean {
  for (let i = 0; i < count; i++) {
    if (ops[i] !== 0 || Number.isNaN(keys[i])) return false
  }
  return true
}

function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
