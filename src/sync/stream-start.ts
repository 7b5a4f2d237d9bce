import type { StreamStart } from '../protocol/progress/sync-observer.ts'
import type { StoredReading } from './bookmark.ts'

type Known = Pick<StoredReading, 'wholeRows'> &
  Partial<Pick<StoredReading, 'position' | 'isSettled' | 'rowsSoFar'>>

/**
 * From where a stream is read: from the beginning, if it is said why, else from what is stored. What has
 * changed since the last sync is what this one finds out, so nothing is expected of it.
 */
export function streamStart(stored: Known | undefined, why: string | undefined): StreamStart {
  const whole = stored?.wholeRows ?? undefined
  if (why !== undefined || stored === undefined)
    return { kind: 'begins', how: `from the beginning: ${why}`, expected: whole }
  const { position, isSettled, rowsSoFar } = stored
  if (position?.phase === 'changes') return { kind: 'changes', how: 'incremental' }
  if (position?.phase === 'complete') return { kind: 'whole', how: 'whole list', expected: whole }
  const isCounted = isSettled === false && whole !== undefined
  const expected = isCounted ? Math.max(0, whole - (rowsSoFar ?? 0)) : undefined
  return { kind: 'continues', how: 'continued', expected }
}
