import type { Key } from '../rows/id-set.ts'
import { allKeys, encodeSets, readSets } from '../rows/stored-keys.ts'
import { readState, writeState } from '../sync/stored-state.ts'

/**
 * The stored state of a stream without these keys, and without those of earlier rows that no row has now; undefined if it cannot be
 * read. The next audit of the stream compares all of its months: what earlier ones have seen had other rows.
 */
export function withoutKeys(
  stored: unknown,
  keys: readonly Key[],
  earlier: readonly Key[] = [],
): object | undefined {
  const state = readState(stored)
  if (state === 'none' || 'unreadable' in state) return undefined
  try {
    const sets = readSets(state.keys)
    const living = allKeys(sets)
    const gone = new Set([...keys, ...earlier.filter((key) => !living.has(key))])
    for (const set of Object.values(sets)) for (const key of gone) set.delete(key)
    const latestChanges = new Map([...state.latestChanges].filter(([key]) => !gone.has(key)))
    const left = { ...state, auditedParts: new Map(), latestChanges }
    return writeState(left, { ...state.keys, ...encodeSets(sets) })
  } catch {
    return undefined
  }
}
