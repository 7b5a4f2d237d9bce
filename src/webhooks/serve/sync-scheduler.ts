import type { Time } from '../../http/time.ts'
import {
  type Batch,
  begin,
  dueAt,
  end,
  IDLE,
  notified,
  type Reason,
  type Result,
  type Schedule,
  type ScheduleTimes,
} from './schedule.ts'

/** Notifications that lead to syncs: the loop over schedule.ts. */
export interface SyncScheduler {
  /** Asks for a sync of these collections that begins after this call. */
  notify(collections: readonly string[], reason: Reason): void
  readonly state: Schedule
  /** Triggers one batch after the other until the signal is aborted; then the last one has ended. */
  run(signal: AbortSignal): Promise<void>
}

export interface SyncSchedulerSettings {
  readonly times: ScheduleTimes
  readonly time: Pick<Time, 'now' | 'sleep'>
  /**
   * Syncs these collections. Answers when the sync has ended, or soon after the signal is aborted;
   * never throws.
   */
  readonly trigger: (batch: Batch, signal: AbortSignal) => Promise<Result>
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
