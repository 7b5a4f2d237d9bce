import type { StreamStart } from '../protocol/connector.ts'
import type { Position } from './position.ts'

/** What it depends on which rows are left to read; see `StoredState`. */
interface Progress {
  readonly position: Position
  readonly isSettled: boolean
  readonly wholeRows: number | null
  readonly rowsSoFar: number | null
}

/** A read from the beginning, which has about as many rows as the last complete one. */
export function fromBeginning(why: string, wholeRows: number | null): StreamStart {
  return { kind: 'begins', how: `from the beginning: ${why}`, expected: wholeRows ?? undefined }
}

/**
 * A read that continues from its stored state. The number of changes since the last sync is unknown, so none is
 * expected.
 */
export function continued(stored: Progress): StreamStart {
  const { position, isSettled, wholeRows, rowsSoFar } = stored
  if (position.phase === 'changes') return { kind: 'changes', how: 'incremental' }
  if (position.phase === 'complete')
    return { kind: 'whole', how: 'whole list', expected: wholeRows ?? undefined }
  const isCounted = !isSettled && wholeRows !== null
  const expected = isCounted ? Math.max(0, wholeRows - (rowsSoFar ?? 0)) : undefined
  return { kind: 'continues', how: 'continued', expected }
}
