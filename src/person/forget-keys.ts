import type { Key } from '../rows/id-set.ts'
import { encodeSets, readSets } from '../rows/stored-keys.ts'
import { readState, writeState } from '../sync/stored-state.ts'

/**
 * The stored state of a stream without these keys; undefined if it cannot be read. The next audit of the stream compares all of
 * its months: what earlier ones have seen had other rows.
 */
export function withoutKeys(stored: unknown, keys: readonly Key[]): object | undefined {
  const state = readState(stored)
  if (state === 'none' || 'unreadable' in state) return undefined
  try {
    const sets = readSets(state.keys)
    for (const set of Object.values(sets)) for (const key of keys) set.delete(key)
    const gone = new Set(keys)
    const latestChanges = new Map([...state.latestChanges].filter(([key]) => !gone.has(key)))
    const left = { ...state, auditedParts: new Map(), latestChanges }
    return writeState(left, { ...state.keys, ...encodeSets(sets) })
  } catch {
    return undefined
  }
}
