import { type Batch, MARKED, REMOVED, SKIP } from '../protocol/records/page-scanner.ts'
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
   * move between the two.
   */
  enter(batch: Batch, place: Place | PlaceOf): void
  /** A page broke after these records had been handed over, and will be asked for again. */
  suspect(keys: IdSet): void
  /** A reading begins that meets everything that lives. */
  beginReading(): void
  /** A listing of the history begins. */
  beginHistory(): void
  /** The history could not be listed: what no reading confirmed may live there. */
  keepUnconfirmed(): void
  missing(): readonly Missing[]
  /** The missing rows have been handed over as deletes; those in doubt are not among them. */
  settle(): void
  encode(): LedgerFields
}

/**
 * At most this much of a bookmark is sets of ids, in characters: about 300,000 ids scattered over
 * 2^32, and many millions where they lie close together.
 */
const MAX_ENCODED = 1_000_000

export interface LedgerSettings {
  /** Told once when the sets outgrow the bookmark. */
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
  return {
    get isTracked() {
      return isTracked
    },
    get isHistoryInDoubt() {
      return isHistoryInDoubt
    },
    enter,
    suspect,
    beginReading,
    beginHistory,
    keepUnconfirmed,
    missing,
    settle,
    encode,
  }

  function enter(batch: Batch, place: Place | PlaceOf): void {
    if (isTracked) {
      if (place instanceof Function || !isPlain(batch)) {
        for (let i = 0; i < batch.count; i++) enterOne(batch, i, place)
      } else {
        const [here, elsewhere] = place === 'live' ? [live, history] : [history, live]
        here.addIntegers(batch.keys)
        for (const set of [elsewhere, unconfirmed, suspects]) set.deleteIntegers(batch.keys)
      }
    }
    highest = later(highest, batch.highestVersion ?? null)
    if (isTracked && suspects.size > 0) suspectsVersion = later(suspectsVersion, suspectsAt(batch))
  }

  function enterOne(batch: Batch, i: number, place: Place | PlaceOf): void {
    const mayMove = place instanceof Function
    const key = keyAt(batch, i)
    const kind = batch.kinds[i]
    if (kind === REMOVED && history.has(key)) {
      batch.kinds[i] = SKIP
      isHistoryInDoubt = true
      live.delete(key)
      return
    }
    for (const set of [live, history, unconfirmed, suspects]) set.delete(key)
    if (kind === REMOVED) {
      // The service may send a deletion with a lower changeVersion than the row's last one.
      const version = batch.versionText(i)
      if (highest !== null && (version === undefined || version < highest)) {
        suspects.add(key)
        isHistoryInDoubt ||= mayMove
      }
    } else if (kind !== MARKED) {
      const here = mayMove ? place(i) : place
      if (here === 'live') live.add(key)
      else history.add(key)
    }
  }

  /** Deletions that came too low are repeated above everything that was loaded with them. */
  function suspectsAt(batch: Batch): string | null {
    return batch.kinds.includes(REMOVED) ? highest : suspectsVersion
  }

  function suspect(keys: IdSet): void {
    if (!isTracked) return
    suspects.addAll(keys)
    suspectsVersion = highest
  }

  function beginReading(): void {
    const isEmpty = live.size + history.size + unconfirmed.size + suspects.size === 0
    // After an overflow nobody knows what the warehouse holds; a new reading may fit again.
    isTracked = true
    isHistoryInDoubt = false
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

  function keepUnconfirmed(): void {
    history.addAll(unconfirmed)
    unconfirmed = createIdSet()
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
    const sets = [live, history, unconfirmed, suspects].map((set) => set.encode())
    const size = sets.reduce((sum, text) => sum + (text?.length ?? 0), 0)
    if (size > MAX_ENCODED) {
      isTracked = false
      for (const set of [live, history, unconfirmed, suspects]) set.clear()
      settings.onOutgrown()
      return encode()
    }
    const [encodedLive = null, encodedHistory = null, left = null, doubted = null] = sets
    return {
      change_version: highest,
      tracked: isTracked,
      live: encodedLive,
      history: encodedHistory,
      unconfirmed: left,
      unconfirmed_version: unconfirmedVersion,
      suspects: doubted,
      suspects_version: suspectsVersion,
    }
  }
}

/** The key of a record of a batch, as the sets hold it. */
export function keyAt(batch: Batch, i: number): Key {
  const key = batch.keys[i] as number
  return Number.isNaN(key) ? (batch.keyText(i) ?? '') : key
}

/** Whether all records of a batch are live and have integer keys: the common case and the fast one. */
function isPlain({ count, kinds, keys }: Batch): boolean {
  for (let i = 0; i < count; i++) {
    if (kinds[i] !== 0 || Number.isNaN(keys[i])) return false
  }
  return true
}

function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
