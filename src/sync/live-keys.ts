import { type Batch, DELETE, DROP, SOFT_DELETE } from '../protocol/record-batch.ts'
import type { Bookmark } from './bookmark.ts'
import { createIdSet, type IdSet, type Key } from './id-set.ts'

/** Where a row lives: in the delta's window or a list, or in the history before the window. */
export type Place = 'live' | 'history'

/** Where the row at an index of a batch lives. */
export type PlaceOf = (index: number) => Place

/** Rows that are gone, with the changeVersion that their deletion is to carry. */
export interface Missing {
  readonly keys: Iterable<Key>
  readonly version: string | null
}

type LedgerFields = Pick<
  Bookmark,
  | 'change_version'
  | 'tracked'
  | 'live'
  | 'history'
  | 'unconfirmed'
  | 'unconfirmed_version'
  | 'suspects'
  | 'suspects_version'
>

/**
 * The account of what the warehouse holds of one stream (design D5, D16, D17).
 *
 * A complete reading confirms what lives; what it leaves unconfirmed is gone. A deletion must win
 * against every version that was loaded and lose against every later one, so it carries the highest
 * changeVersion known before the reading began, or, for suspects, known when they became suspect.
 */
export interface Ledger {
  /** False when the sets outgrew the bookmark: what is missing can then not be told. */
  readonly isTracked: boolean
  /**
   * True when a Delete came that may only be a row's move into the history: of a row that was seen
   * there, or one that is older than what was seen meanwhile. The next listing of the history decides.
   */
  readonly isHistoryInDoubt: boolean
  /**
   * Enters a batch that is about to be handed over. Sets entries to SKIP that must not be: a
   * Delete of a row that the history holds. A `place` that is asked row by row means that rows may
   * move between the two. `mayRepeat` when the rest of the page is still to come: should it be
   * asked for again, these records may be missing from it.
   */
  enter(batch: Batch, place: Place | PlaceOf, mayRepeat?: boolean): void
  /** The page at hand broke, and will be asked for again. */
  pageBroke(): void
  /** The page at hand is complete. */
  pageEnded(): void
  /** A reading begins that meets everything that lives. */
  beginReading(): void
  /** A listing of the history begins. */
  beginHistory(): void
  /**
   * A part of the whole could not be listed: what no reading confirmed may live there, all of it or
   * the keys that `isThere` tells. Answers how many keys that are.
   */
  keepUnconfirmed(place: Place, isThere?: (key: Key) => boolean): number
  missing(): readonly Missing[]
  /** The missing rows have been handed over as deletes; those in doubt are not among them. */
  settle(): void
  encode(): LedgerFields
}

export interface LedgerSettings {
  /** Whether the sets may take so many characters of the state; see `IdBudget`. */
  readonly takes: (characters: number) => boolean
  /** Told once when they may not. */
  readonly onOutgrown: () => void
}

export function createLedger(stored: LedgerFields | undefined, settings: LedgerSettings): Ledger {
  let live = createIdSet(stored?.live ?? null)
  let history = createIdSet(stored?.history ?? null)
  let unconfirmed = createIdSet(stored?.unconfirmed ?? null)
  let suspects = createIdSet(stored?.suspects ?? null)
  let highest = stored?.change_version ?? null
  let unconfirmedVersion = stored?.unconfirmed_version ?? null
  let suspectsVersion = stored?.suspects_version ?? null
  let isTracked = stored?.tracked ?? true
  let isHistoryInDoubt = false
  /** Records of the page at hand that have been handed over, while the rest of it is to come. */
  let handed = createIdSet()
  return {
    get isTracked() {
      return isTracked
    },
    get isHistoryInDoubt() {
      return isHistoryInDoubt
    },
    enter,
    pageBroke,
    pageEnded,
    beginReading,
    beginHistory,
    keepUnconfirmed,
    missing,
    settle,
    encode,
  }

  function enter(batch: Batch, place: Place | PlaceOf, mayRepeat = false): void {
    if (isTracked) {
      if (mayRepeat) for (let i = 0; i < batch.count; i++) handed.add(keyAt(batch, i))
      if (place instanceof Function || !isPlain(batch)) {
        let before = highest
        const hasDeletes = batch.ops.includes(DELETE)
        for (let i = 0; i < batch.count; i++) {
          enterOne(batch, i, place, before)
          if (hasDeletes) before = later(before, batch.versionText(i) ?? null)
        }
      } else {
        const [here, elsewhere] = place === 'live' ? [live, history] : [history, live]
        here.addIntegers(batch.keys)
        for (const set of [elsewhere, unconfirmed, suspects]) set.deleteIntegers(batch.keys)
      }
    }
    highest = later(highest, batch.highestVersion ?? null)
    if (isTracked && suspects.size > 0) suspectsVersion = later(suspectsVersion, suspectsAt(batch))
  }

  /** `before` is the highest version of the records that came before this one. */
  function enterOne(batch: Batch, i: number, place: Place | PlaceOf, before: string | null): void {
    const mayMove = place instanceof Function
    const key = keyAt(batch, i)
    const kind = batch.ops[i]
    if (kind === DELETE && history.has(key)) {
      batch.ops[i] = DROP
      isHistoryInDoubt = true
      live.delete(key)
      return
    }
    for (const set of [live, history, unconfirmed, suspects]) set.delete(key)
    if (kind === DELETE) {
      // The service may send a deletion with a lower changeVersion than the row's last one.
      const version = batch.versionText(i)
      if (before !== null && (version === undefined || version < before)) {
        suspects.add(key)
        isHistoryInDoubt ||= mayMove
      }
    } else if (kind !== SOFT_DELETE) {
      const here = mayMove ? place(i) : place
      if (here === 'live') live.add(key)
      else history.add(key)
    }
  }

  /** Deletions that came too low are repeated above everything that was loaded with them. */
  function suspectsAt(batch: Batch): string | null {
    return batch.ops.includes(DELETE) ? highest : suspectsVersion
  }

  function pageBroke(): void {
    if (handed.size > 0) suspectsVersion = highest
    suspects = doubted()
    pageEnded()
  }

  function pageEnded(): void {
    if (handed.size > 0) handed = createIdSet()
  }

  /** The suspects of a sync that ends here: what was handed over of an incomplete page is in doubt. */
  function doubted(): IdSet {
    if (handed.size === 0) return suspects
    const all = createIdSet()
    for (const set of [suspects, handed]) all.addAll(set)
    return all
  }

  function beginReading(): void {
    const isEmpty = live.size + history.size + unconfirmed.size + suspects.size === 0
    // After an overflow nobody knows what the warehouse holds; a new reading may fit again.
    isTracked = true
    isHistoryInDoubt = false
    pageBroke()
    for (const set of [live, history, suspects]) unconfirmed.addAll(set)
    live = createIdSet()
    history = createIdSet()
    suspects = createIdSet()
    suspectsVersion = null
    unconfirmedVersion = isEmpty ? null : highest
  }

  function beginHistory(): void {
    isHistoryInDoubt = false
    unconfirmed.addAll(history)
    history = createIdSet()
    unconfirmedVersion = highest
  }

  function keepUnconfirmed(place: Place, isThere: (key: Key) => boolean = () => true): number {
    const here = place === 'live' ? live : history
    const rest = createIdSet()
    for (const key of unconfirmed.keys()) (isThere(key) ? here : rest).add(key)
    const kept = unconfirmed.size - rest.size
    unconfirmed = rest
    return kept
  }

  function missing(): readonly Missing[] {
    if (!isTracked) return []
    const gone = { keys: unconfirmed.keys(), version: unconfirmedVersion }
    return isHistoryInDoubt ? [gone] : [gone, { keys: suspects.keys(), version: suspectsVersion }]
  }

  function settle(): void {
    unconfirmed = createIdSet()
    unconfirmedVersion = null
    if (isHistoryInDoubt) return
    suspects = createIdSet()
    suspectsVersion = null
  }

  function encode(): LedgerFields {
    const sets = [live, history, unconfirmed, doubted()].map((set) => set.encode())
    const size = sets.reduce((sum, text) => sum + (text?.length ?? 0), 0)
    if (!settings.takes(size)) {
      isTracked = false
      for (const set of [live, history, unconfirmed, suspects, handed]) set.clear()
      settings.onOutgrown()
      return encode()
    }
    const [encodedLive = null, encodedHistory = null, left = null, suspect = null] = sets
    return {
      change_version: highest,
      tracked: isTracked,
      live: encodedLive,
      history: encodedHistory,
      unconfirmed: left,
      unconfirmed_version: unconfirmedVersion,
      suspects: suspect,
      suspects_version: handed.size > 0 ? highest : suspectsVersion,
    }
  }
}

/** The key of a record of a batch, as the sets hold it. */
function keyAt(batch: Batch, i: number): Key {
  const key = batch.keys[i] as number
  return Number.isNaN(key) ? (batch.keyText(i) ?? '') : key
}

/** Whether all records of a batch are live and have integer keys: the common case and the fast one. */
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
