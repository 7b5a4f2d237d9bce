/** Why a sync is asked for, the weightiest first: the first of them among the rings is the trigger's. */
export const REASONS = ['start', 'renewal', 'delivery'] as const
export type Reason = (typeof REASONS)[number]

/** The waits of a doorbell, in milliseconds. */
export interface DoorbellTimes {
  /** A trigger waits until nothing has rung for so long, */
  readonly quietMs: number
  /** but no longer than this after the first ring, */
  readonly maxWaitMs: number
  /** and at least this from the start of one trigger to the next. */
  readonly minIntervalMs: number
  /** After a failure, doubled by each further one; and after a trigger that was busy. */
  readonly retryMs: number
}

/** What a trigger is asked to sync: collections that rang, and how often deliveries did. */
export interface Batch {
  readonly collections: readonly string[]
  readonly reason: Reason
  readonly deliveries: number
}

/** `busy`: a sync is running that we did not start, and ours has not begun. */
export type Result = 'done' | 'failed' | 'busy'

/** Rings that no trigger has taken yet. Times are milliseconds of a monotonic clock. */
interface Rings extends Batch {
  readonly firstAt: number
  readonly lastAt: number
}

/** Everything that decides when the next trigger begins. */
export interface DoorbellState {
  readonly waiting: Rings | undefined
  readonly running: Rings | undefined
  /** When a trigger last began; one that was busy has not. */
  readonly startedAt: number
  readonly previousStart: number
  readonly heldUntil: number
  /** Triggers that failed since the last good one. */
  readonly failures: number
}

/** The longest pause after a failure, unless the first is longer. */
const MAX_RETRY_MS = 30 * 60_000

export const SILENT: DoorbellState = {
  waiting: undefined,
  running: undefined,
  startedAt: Number.NEGATIVE_INFINITY,
  previousStart: Number.NEGATIVE_INFINITY,
  heldUntil: Number.NEGATIVE_INFINITY,
  failures: 0,
}

/** The state after a ring for these collections; a ring for none changes nothing. */
export function ring(
  state: DoorbellState,
  collections: readonly string[],
  reason: Reason,
  now: number,
): DoorbellState {
  if (collections.length === 0) return state
  const deliveries = reason === 'delivery' ? 1 : 0
  const rung = { collections, reason, deliveries, firstAt: now, lastAt: now }
  return { ...state, waiting: merged(state.waiting, rung) }
}

/** When the next trigger is to begin; undefined while one runs, and when nothing waits. */
export function dueAt(state: DoorbellState, times: DoorbellTimes): number | undefined {
  const { waiting, running, startedAt, heldUntil } = state
  if (waiting === undefined || running !== undefined) return undefined
  const calm = Math.min(waiting.lastAt + times.quietMs, waiting.firstAt + times.maxWaitMs)
  return Math.max(calm, startedAt + times.minIntervalMs, heldUntil)
}

/** The state in which a trigger runs with all that waited. */
export function begin(state: DoorbellState, now: number): DoorbellState {
  return {
    ...state,
    waiting: undefined,
    running: state.waiting,
    startedAt: now,
    previousStart: state.startedAt,
  }
}

/** The state after the trigger that runs has ended: what a trigger has not synced waits again. */
export function end(
  state: DoorbellState,
  result: Result,
  now: number,
  { retryMs }: DoorbellTimes,
): DoorbellState {
  const ended = { ...state, running: undefined }
  if (result === 'done') return { ...ended, failures: 0 }
  const waiting = merged(state.running, state.waiting)
  if (result === 'busy')
    return { ...ended, waiting, startedAt: state.previousStart, heldUntil: now + retryMs }
  const pause = Math.min(retryMs * 2 ** state.failures, Math.max(retryMs, MAX_RETRY_MS))
  return { ...ended, waiting, heldUntil: now + pause, failures: state.failures + 1 }
}

function merged(earlier: Rings | undefined, later: Rings | undefined): Rings | undefined {
  if (earlier === undefined || later === undefined) return earlier ?? later
  return {
    collections: [...new Set([...earlier.collections, ...later.collections])],
    reason: REASONS.find((one) => one === earlier.reason || one === later.reason) ?? later.reason,
    deliveries: earlier.deliveries + later.deliveries,
    firstAt: earlier.firstAt,
    lastAt: later.lastAt,
  }
}
