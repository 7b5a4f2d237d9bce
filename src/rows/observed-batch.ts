import { DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { isRising, type Key, keyAt, keysOf } from './id-set.ts'
import { type KeySets, MOST_UNCONFIRMED } from './stored-keys.ts'

/** Where the date of a row is: in the delta's window or a list, or in the days before the window. */
export type Place = 'window' | 'history'

/** Where the row at an index of a batch is, or all of its rows. */
export type PlaceOf = Place | ((batch: RecordBatch, index: number) => Place)

export function isKnown(key: Key, { window, history }: KeySets): boolean {
  return window.has(key) || history.has(key)
}

/** Whether a known row exists, as far as this process has heard. */
export function lives(key: Key, { reportedDeleted, doubted }: KeySets): boolean {
  return !reportedDeleted.has(key) && !doubted.has(key)
}

/** Notes upserts with integer keys that are all in one place. */
export function observePlain(batch: RecordBatch, place: Place, sets: KeySets): void {
  const { window, history, unseen, doubted, reportedDeleted, unconfirmed } = sets
  const isListedBefore = place === 'history' && window.size > 0
  const listedBefore = isListedBefore ? keysOf(batch).filter((key) => window.has(key)) : []
  const elsewhere = place === 'window' ? history : window
  sets[place].addIntegers(batch.keys)
  for (const set of [elsewhere, unseen, doubted, reportedDeleted, unconfirmed])
    set.deleteIntegers(batch.keys)
  leaveFew(listedBefore, sets)
}

/** Notes records one by one; returns how many known rows a delta reports as deleted. */
export function observeEach(
  batch: RecordBatch,
  place: PlaceOf,
  isChange: boolean,
  sets: KeySets,
): number {
  const { window, history, unseen, doubted, reportedDeleted, unconfirmed, reportedBefore } = sets
  /** Rows of the window that a list has before it. */
  const listedBefore: Key[] = []
  let reported = 0
  for (let i = 0; i < batch.count; i++) {
    const op = batch.ops[i]
    const key = keyAt(batch, i)
    unseen.delete(key)
    doubted.delete(key)
    unconfirmed.delete(key)
    if (op === SKIP) continue
    const wasBefore = history.has(key)
    if (op === DELETE && wasBefore) {
      batch.ops[i] = SKIP
      unconfirmed.add(key)
      if (isChange) reportedBefore.add(key)
      continue
    }
    const wasInWindow = window.delete(key)
    history.delete(key)
    if (op !== UPSERT) {
      reportedDeleted.add(key)
      if (isChange && (wasInWindow || wasBefore)) reported++
      continue
    }
    reportedDeleted.delete(key)
    const here = place instanceof Function ? place(batch, i) : place
    sets[here].add(key)
    // A change may report a date on which the row was before the lists found it.
    if (isChange && here === 'window' && wasBefore) unconfirmed.add(key)
    if (!isChange && here === 'history' && wasInWindow) listedBefore.push(key)
  }
  leaveFew(listedBefore, sets)
  return reported
}

/** Leaves rows unconfirmed, unless they are many. */
function leaveFew(keys: readonly Key[], { unconfirmed }: KeySets): void {
  if (unconfirmed.size + keys.length > MOST_UNCONFIRMED) return
  for (const key of keys) unconfirmed.add(key)
}

/** Calls a function with the key of each record that is written. */
export function withoutSkipped(batch: RecordBatch, each: (key: Key) => void): void {
  for (let i = 0; i < batch.count; i++) if (batch.ops[i] !== SKIP) each(keyAt(batch, i))
}

/**
 * Skips the records of a full refresh whose rows were already sent, and notes the others. No key that was sent is
 * higher than `highestSent`; returns that bound for the next batch.
 */
export function skipRepeats(batch: RecordBatch, highestSent: number, sets: KeySets): number {
  const { count, ops, keys } = batch
  const { window, reportedDeleted } = sets
  // Lists usually come in the order of ids.
  if (isRising(batch, highestSent) && hasOnlyUpserts(batch)) {
    window.addIntegers(keys, true)
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
export function isPlain(batch: RecordBatch): boolean {
  return hasOnlyUpserts(batch) && (isRising(batch) || !batch.keys.some(Number.isNaN))
}

function hasOnlyUpserts({ ops }: RecordBatch): boolean {
  for (let i = 0; i < ops.length; i++) if (ops[i] !== UPSERT) return false
  return true
}
