import type { Time } from '../../http/clock.ts'

/**
 * The reasons for a sync, the most important first: a trigger gets the first one among its notifications.
 */
export const REASONS = ['start', 'renewal', 'delivery'] as const
export type Reason = (typeof REASONS)[number]

/** The waits between notifications and syncs, in milliseconds. */
export interface ScheduleTimes {
  /** A trigger waits until there has been no notification for this long, */
  readonly debounceMs: number
  /** but no longer than this after the first one, */
  readonly maxWaitMs: number
  /** and at least this from the start of one trigger to the next. */
  readonly minIntervalMs: number
  /** After a failure, doubled by each further one; and after a trigger that was busy. */
  readonly retryMs: number
}

/** What a trigger has to sync, and how many deliveries led to it. */
export interface TriggerBatch {
  readonly collections: readonly string[]
  readonly reason: Reason
  readonly deliveries: number
}

/**
 * `busy`: another sync is running, and ours has not started. `cancelled`: somebody has ended it and does not
 * want it to be restarted.
 */
export type SyncResult = 'done' | 'failed' | 'busy' | 'cancelled'

/**
 * Notifications that wait for a trigger, or that a trigger handles. Times are milliseconds of a monotonic
 * clock.
 */
interface Notifications extends TriggerBatch {
  readonly firstAt: number
  readonly lastAt: number
  /** When the oldest of them came, also if it was postponed since. */
  readonly since: number
}

/** Everything that determines the start of the next trigger. */
export interface Schedule {
  readonly waiting: Notifications | undefined
  readonly running: Notifications | undefined
  /** Work of a cancelled trigger: the next notification includes it. */
  readonly postponed: Notifications | undefined
  /** When a trigger last started; a busy trigger has not started. */
  readonly startedAt: number
  readonly previousStart: number
  readonly heldUntil: number
  /** Failed triggers since the last successful one. */
  readonly failures: number
}

/** The longest pause after a failure, unless the first is longer. */
const MAX_RETRY_MS = 30 * 60_000

export const IDLE: Schedule = {
  waiting: undefined,
  running: undefined,
  postponed: undefined,
  startedAt: Number.NEGATIVE_INFINITY,
  previousStart: Number.NEGATIVE_INFINITY,
  heldUntil: Number.NEGATIVE_INFINITY,
  failures: 0,
}

/** The state after a notification for these collections; without collections it does not change. */
export function notified(
  state: Schedule,
  collections: readonly string[],
  reason: Reason,
  now: number,
): Schedule {
  if (collections.length === 0) return state
  const deliveries = reason === 'delivery' ? 1 : 0
  const latest = { collections, reason, deliveries, firstAt: now, lastAt: now, since: now }
  return { ...state, ...taken(state.postponed, merged(state.waiting, latest)) }
}

/** Waiting work includes postponed work, but is not due earlier because of it. */
function taken(
  postponed: Notifications | undefined,
  waiting: Notifications,
): Pick<Schedule, 'waiting' | 'postponed'> {
  const { firstAt, lastAt } = waiting
  return { waiting: { ...merged(postponed, waiting), firstAt, lastAt }, postponed: undefined }
}

/** When the next trigger starts; undefined while one runs, and if nothing waits. */
export function dueAt(state: Schedule, times: ScheduleTimes): number | undefined {
  const { waiting, running, startedAt, heldUntil } = state
  if (waiting === undefined || running !== undefined) return undefined
  const calm = Math.min(waiting.lastAt + times.debounceMs, waiting.firstAt + times.maxWaitMs)
  return Math.max(calm, startedAt + times.minIntervalMs, heldUntil)
}

/** How long the oldest change has been waiting for the end of a successful sync; 0 if none waits. */
export function waitingMs({ waiting, running, postponed }: Schedule, now: number): number {
  const since = [waiting, running, postponed].flatMap((one) => one?.since ?? [])
  return since.length === 0 ? 0 : now - Math.min(...since)
}

/** The state in which a trigger handles everything that waited. */
export function begin(state: Schedule, now: number): Schedule {
  return {
    ...state,
    waiting: undefined,
    running: state.waiting,
    startedAt: now,
    previousStart: state.startedAt,
  }
}

/** The state after the running trigger has ended: what it has not synced waits again. */
export function end(
  state: Schedule,
  result: SyncResult,
  now: number,
  { retryMs }: ScheduleTimes,
): Schedule {
  const ended = { ...state, running: undefined }
  if (result === 'done') return { ...ended, failures: 0 }
  if (result === 'cancelled') {
    const { running: postponed, waiting } = state
    return waiting === undefined
      ? { ...ended, postponed }
      : { ...ended, ...taken(postponed, waiting) }
  }
  const waiting = merged(state.running, state.waiting)
  if (result === 'busy')
    return { ...ended, waiting, startedAt: state.previousStart, heldUntil: now + retryMs }
  const pause = Math.min(retryMs * 2 ** state.failures, Math.max(retryMs, MAX_RETRY_MS))
  return { ...ended, waiting, heldUntil: now + pause, failures: state.failures + 1 }
}

function merged<T extends Notifications | undefined>(
  earlier: Notifications | undefined,
  later: T,
): Notifications | T {
  if (earlier === undefined || later === undefined) return earlier ?? later
  return {
    collections: [...new Set([...earlier.collections, ...later.collections])],
    reason: REASONS.find((one) => one === earlier.reason || one === later.reason) ?? later.reason,
    deliveries: earlier.deliveries + later.deliveries,
    firstAt: earlier.firstAt,
    lastAt: later.lastAt,
    since: Math.min(earlier.since, later.since),
  }
}

/** What a trigger has to sync. */
export interface Order {
  /** Names of streams, such as `access_clockings`. */
  readonly streams: readonly string[]
  readonly reason: string
}

export interface TriggerOutcome {
  readonly result: SyncResult
  /** What happened, as text without a full stop. */
  readonly detail: string
}

/**
 * Starts a sync and resolves when it has ended, or when it is certain that it has not started. It resolves
 * soon after the signal is aborted, and never throws.
 */
export interface Trigger {
  (order: Order, signal: AbortSignal): Promise<TriggerOutcome>
  /** Throws a config error, within seconds, if it is certain that no sync can start. */
  check?(signal: AbortSignal): Promise<void>
  /** Resolves when all processes of earlier syncs are gone, after their signal was aborted. */
  stopped?(): Promise<void>
}

/** Notifications that lead to syncs: the loop over a `Schedule`. */
export interface SyncScheduler {
  /** Requests a sync of these collections that starts after this call. */
  notify(collections: readonly string[], reason: Reason): void
  readonly state: Schedule
  /**
   * Starts one trigger after the other until the signal is aborted; resolves when the last one has ended.
   */
  run(signal: AbortSignal): Promise<void>
}

export interface SyncSchedulerSettings {
  readonly times: ScheduleTimes
  readonly time: Pick<Time, 'now' | 'sleep'>
  /**
   * Syncs these collections. Resolves when the sync has ended, or soon after the signal is aborted; never
   * throws.
   */
  readonly trigger: (batch: TriggerBatch, signal: AbortSignal) => Promise<SyncResult>
}

export function createSyncScheduler({
  times,
  time,
  trigger,
}: SyncSchedulerSettings): SyncScheduler {
  let state = IDLE
  let wake = () => {}
  return {
    notify(collections, reason) {
      state = notified(state, collections, reason, time.now())
      wake()
    },
    get state() {
      return state
    },
    run,
  }

  async function run(signal: AbortSignal): Promise<void> {
    signal.addEventListener('abort', () => wake(), { once: true })
    while (!signal.aborted) {
      const due = dueAt(state, times)
      if (due === undefined) await notification()
      else if (due > time.now()) await time.sleep(due - time.now(), signal).catch(() => {})
      else await triggerNow(signal)
    }
  }

  async function triggerNow(signal: AbortSignal): Promise<void> {
    state = begin(state, time.now())
    if (state.running === undefined) return
    const result = await trigger(state.running, signal)
    state = end(state, result, time.now(), times)
  }

  function notification(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
    })
  }
}
