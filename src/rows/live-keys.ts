import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { createIdSet, type Key, keyAt, keysOf } from './id-set.ts'
import {
  isKnown,
  isPlain,
  lives,
  observeEach,
  observePlain,
  type Place,
  type PlaceOf,
  skipRepeats,
  withoutSkipped,
} from './observed-batch.ts'
import {
  allKeys,
  charactersOf,
  emptySets,
  encodeAtBeginning,
  encodeSets,
  type IdBudget,
  readSets,
  type StoredKeys,
  union,
} from './stored-keys.ts'

/**
 * The keys of the rows that the warehouse has of one stream. They are used to find deleted rows: a complete read
 * finds every row that exists, and the others are deleted.
 */
export type LiveKeys = ReturnType<typeof createLiveKeys>

/** See `LiveKeys.skipFound`. */
export type OtherRows = 'written' | 'in question' | 'skipped'

/**
 * Creates the keys of a stream. `ids` is shared by all streams of the sync. Throws if a stored set cannot be decoded, or
 * contains more than `mostIds` ids.
 */
export function createLiveKeys(
  stored: StoredKeys | undefined,
  stream: string,
  ids: IdBudget,
  mostIds?: number,
) {
  let sets = readSets(stored, mostIds)
  let highestVersion = stored?.highestVersion ?? null
  let isTracked = stored?.isTracked ?? true
  let isWrittenKnown = true
  let reportedCount = 0
  /** The rows that a comparison has yet to find. */
  let sought = createIdSet()
  /** No key that was sent is higher than this one. */
  let highestSent = sets.window.size === 0 ? -1 : Number.POSITIVE_INFINITY
  const has = (key: Key) => isKnown(key, sets) && lives(key, sets)
  /** Rows that are marked as deleted are on the pages, too. */
  const wasMet = (key: Key) => isKnown(key, sets) || sets.reportedDeleted.has(key)
  /** Whether a row may be in the warehouse, also one that the present complete read has not found so far. */
  const isWritten = (key: Key) =>
    isKnown(key, sets) || sets.unseen.has(key) || sets.doubted.has(key)
  const isLookedFor = (key: Key) =>
    [sets.unconfirmed, sets.unseen, sets.doubted].some((rows) => rows.has(key))
  return {
    /** False if the sets became too large for the state; then deleted rows are no longer found. */
    get isTracked(): boolean {
      return isTracked
    },
    /** False once the rows that were written did not fit into the state. */
    get isWrittenKnown(): boolean {
      return isWrittenKnown
    },
    /** See `StoredKeys.highestVersion`. */
    get highestVersion(): string | null {
      return highestVersion
    },
    /**
     * Notes a batch that is about to be written. A record that must not be written gets the op SKIP: a Delete of a row
     * from before the window, which may only have moved into it. A record that already has the op SKIP only says that its
     * row exists.
     *
     * Two answers contradict each other about such a Delete, about a change that puts a row from before the window into it,
     * and about a row of a list of the days before the window that the delta has in it (unless these are many: then
     * the list is the newer one). These rows are unconfirmed.
     *
     * `mayRepeat`: the rest of the page is still to come, and if it is requested again, these records may be missing
     * from it. `isChange`: the delta reports the rows as changes.
     */
    observe(batch: RecordBatch, place: PlaceOf, { mayRepeat = false, isChange = false } = {}) {
      highestVersion = later(highestVersion, batch.highestVersion ?? null)
      if (!isTracked) return
      if (mayRepeat) for (const key of keysOf(batch)) sets.ofThisPage.add(key)
      if (sought.size > 0) withoutSkipped(batch, (key) => sought.delete(key))
      if (isChange && sets.onlyListed.size > 0)
        for (const key of keysOf(batch)) sets.onlyListed.delete(key)
      if (!(place instanceof Function) && isPlain(batch)) observePlain(batch, place, sets)
      else reportedCount += observeEach(batch, place, isChange, sets)
    },
    /** Whether a batch has a row that the present complete read has met on another page. */
    hasMet(batch: RecordBatch): boolean {
      return keysOf(batch).some((key) => wasMet(key) && !sets.doubted.has(key))
    },
    /** The current page was interrupted, and will be requested again. */
    pageInterrupted() {
      sets.doubted.addAll(sets.ofThisPage)
      sets.ofThisPage = createIdSet()
    },
    /** The current page is complete. */
    pageEnded() {
      if (sets.ofThisPage.size > 0) sets.ofThisPage = createIdSet()
    },
    /** Begins a complete read, which finds all rows that exist. Those of a part that cannot be read remain unconfirmed if they were. */
    beginReading() {
      sets = { ...emptySets(allKeys(sets)), unconfirmed: sets.unconfirmed }
      // After an overflow it is unknown which rows the warehouse has; a new read may fit again.
      isTracked = true
    },
    /**
     * A part of the stream could not be listed, so rows that no read has found may still exist there: all of them, or
     * those for which `isThere` returns true. Returns their number.
     */
    keepUnseen(place: Place, isThere = (_: Key) => true): number {
      const rest = createIdSet()
      for (const key of sets.unseen.keys()) (isThere(key) ? sets[place] : rest).add(key)
      const kept = sets.unseen.size - rest.size
      sets.unseen = rest
      return kept
    },
    /** The rows that an earlier sync has not found, and the read has yet to find. */
    soughtAgain: (): readonly Key[] =>
      [...sets.unconfirmed.keys()].filter((key) => sets.unseen.has(key)),
    /** Nobody could look for the rows of `gone`: they stay, unconfirmed. */
    keepGone() {
      for (const set of [sets.unseen, sets.doubted])
        for (const key of set.keys()) {
          if (!isKnown(key, sets)) sets.window.add(key)
          sets.unconfirmed.add(key)
        }
      sets.unseen = createIdSet()
      sets.doubted = createIdSet()
    },
    /**
     * Used when the rows that a complete read did not find are checked. Sets the op to SKIP for records whose row it
     * has found, or whose deletion was reported. Must be called before `observe`.
     *
     * `others` says what becomes of rows that only these records have: those that are `in question` are unconfirmed for the
     * next sync, which looks again, unless there are many of them; or all that nobody looks for are skipped.
     */
    skipFound(batch: RecordBatch, others: OtherRows = 'written') {
      const { reportedDeleted, unconfirmed, onlyListed } = sets
      const isOther = (key: Key) => others === 'skipped' && !isLookedFor(key)
      for (let i = 0; i < batch.count; i++) {
        const key = keyAt(batch, i)
        const wasFound = isKnown(key, sets) && !unconfirmed.has(key)
        if (wasFound || reportedDeleted.has(key) || isOther(key)) batch.ops[i] = SKIP
        else if (others === 'in question' && batch.ops[i] === UPSERT) onlyListed.add(key)
      }
    },
    /** Whether no answer has had the row, or two contradict each other about it: rechecks are made for these. */
    isLookedFor,
    /**
     * Used by full refreshes instead of `observe` and `skipFound`. Sets the op to SKIP for records whose row was
     * already sent, and notes the others.
     */
    skipSent(batch: RecordBatch) {
      highestVersion = later(highestVersion, batch.highestVersion ?? null)
      if (isTracked) highestSent = skipRepeats(batch, highestSent, sets)
    },
    /** A full refresh begins or has ended: no row counts as sent. */
    forgetSent() {
      sets = emptySets()
      highestSent = -1
      isTracked = true
    },
    /** The rows that the warehouse has after the deletions of `gone`, in chunks. */
    *living(): Generator<Uint32Array | readonly Key[]> {
      const { window, history, reportedDeleted, doubted } = sets
      const doAll = reportedDeleted.size === 0 && doubted.size === 0
      for (const set of [window, history])
        for (const keys of set.chunks()) yield doAll ? keys : keys.filter((key) => lives(key, sets))
    },
    /** Whether a row is among `living`. */
    has,
    /** Whether a row may be among `living`: any row may if the keys are not tracked. */
    mayHave: (key: Key): boolean => !isTracked || has(key),
    /** Whether a row may have been written: any row may if the keys are not tracked. */
    mayBeWritten: (key: Key): boolean => !isTracked || isWritten(key),
    /** Whether the present complete read may have met a row. */
    mayHaveMet: (key: Key): boolean => !isTracked || wasMet(key),
    /** Two answers contradict each other about these rows: they count as existing until somebody has looked for them. */
    leaveUnconfirmed(keys: readonly Key[]) {
      for (const key of keys) sets.unconfirmed.add(key)
    },
    /**
     * Begins a comparison with lists, which have to find every living row, or every one from before the window. The state
     * contains nothing of it.
     */
    seek(place?: Place) {
      sought = union(place === undefined ? [sets.window, sets.history] : [sets[place]])
    },
    /**
     * The lists have found the rows of a batch, which is not written. Those that were unconfirmed remain so: a list may be older
     * than the answers that contradict each other.
     */
    markFound(batch: RecordBatch) {
      if (isPlain(batch)) sought.deleteIntegers(batch.keys)
      else for (const key of keysOf(batch)) sought.delete(key)
    },
    /** Ends a complete comparison: the rows that were neither found nor changed are unconfirmed, and returned. */
    endSeek(): readonly Key[] {
      const left = [...sought.keys()].filter(has)
      for (const key of left) sets.unconfirmed.add(key)
      sought = createIdSet()
      return left
    },
    /** The rows that were not confirmed so far, by this sync or those before. */
    unconfirmed: (): readonly Key[] =>
      [...sets.unconfirmed.keys()].filter((key) => isKnown(key, sets)),
    /** Marks some of these rows as deleted. They are unconfirmed until that is committed: it may have to be approved. */
    markGone(keys: readonly Key[]) {
      const { window, history, unseen } = sets
      for (const key of keys) {
        for (const set of [window, history]) set.delete(key)
        unseen.add(key)
      }
    },
    /** Notes rows that are written, so that the next audit does not trust what it saw of them. */
    noteWritten(batch: RecordBatch) {
      if (isPlain(batch)) sets.written.addIntegers(batch.keys)
      else withoutSkipped(batch, (key) => sets.written.add(key))
    },
    /** Whether the row was written since the last audit. */
    wasWritten: (key: Key): boolean => sets.written.has(key),
    /** These rows, or all, have been compared: they count as not written. */
    forgetWritten(keys?: Iterable<Key>) {
      isWrittenKnown = true
      if (keys === undefined) sets.written = createIdSet()
      else for (const key of keys) sets.written.delete(key)
    },
    /** Any row with an integer key that was found and is not in doubt; undefined if there is none. */
    someFound(): number | undefined {
      const isSure = (key: Key) => !sets.unconfirmed.has(key) && !sets.doubted.has(key)
      for (const set of [sets.window, sets.history])
        for (const key of set.keys()) if (typeof key === 'number' && isSure(key)) return key
      return undefined
    },
    /** The rows to delete. */
    gone: (): readonly Key[] => (isTracked ? [...sets.unseen.keys(), ...sets.doubted.keys()] : []),
    /**
     * Rows leave the warehouse because of their day or their person: these, or all from before the window. Returns each once, whether
     * it is known or not: a sync may have died after it had written rows that no state knows.
     */
    leave(rows: readonly Key[] | 'history'): readonly Key[] {
      const { window, history, unseen, doubted, unconfirmed, written, left } = sets
      const leaving = [...new Set(rows === 'history' ? history.keys() : rows)].filter(
        (key) => !left.has(key) || isWritten(key),
      )
      for (const key of leaving) {
        for (const set of [window, history, unseen, doubted, unconfirmed, written]) set.delete(key)
        left.add(key)
      }
      return leaving
    },
    /**
     * The number of rows in each part of the stream: of those that a complete read has not found, or of all that the
     * warehouse may have. Without a function, the stream is one part, whose name is empty.
     */
    counts(of: 'unseen' | 'all', partOf?: (key: Key) => string): ReadonlyMap<string, number> {
      const { window, history, unseen, doubted, reportedBefore } = sets
      const missing = isTracked ? [unseen, doubted] : []
      const counted = of === 'all' ? [window, history, unseen] : missing
      const counts = new Map<string, number>()
      const add = (part: string, count: number) => counts.set(part, (counts.get(part) ?? 0) + count)
      for (const set of counted)
        if (partOf === undefined) add('', set.size)
        else for (const key of set.keys()) add(partOf(key), 1)
      // A stream with a delta is one part.
      if (of === 'unseen') for (const key of reportedBefore.keys()) if (unseen.has(key)) add('', -1)
      return counts
    },
    /** The number of known rows whose deletion a delta has reported to this process. */
    get reportedCount(): number {
      return reportedCount
    },
    /** The deletions of `gone` have been written. */
    commitDeletes() {
      for (const key of sets.unseen.keys()) sets.unconfirmed.delete(key)
      sets.unseen = createIdSet()
      for (const key of sets.doubted.keys())
        for (const set of [sets.window, sets.history]) set.delete(key)
      sets.doubted = createIdSet()
    },
    /**
     * The keys for a state at this moment: records of an incomplete page are in doubt. If the sets no longer fit into
     * the state, they are given up, and `isTracked` is false from then on.
     */
    encode(): StoredKeys {
      for (;;) {
        const whole = encodeSets(sets)
        if (ids.take(stream, charactersOf(whole))) return { highestVersion, isTracked, ...whole }
        if (sets.written.size === 0) break
        // Without these, the next audit writes everything again.
        sets.written = createIdSet()
        isWrittenKnown = false
      }
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

function later(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b
  return a > b ? a : b
}
