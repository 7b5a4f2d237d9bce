import type { Time } from '../../http/time.ts'
import {
  type Batch,
  begin,
  type DoorbellState,
  type DoorbellTimes,
  dueAt,
  end,
  type Reason,
  type Result,
  ring,
  SILENT,
} from './doorbell-state.ts'

/** Rings that lead to syncs: the loop over doorbell-state.ts. */
export interface Doorbell {
  /** Asks for a sync of these collections that begins after this call. */
  ring(collections: readonly string[], reason: Reason): void
  readonly state: DoorbellState
  /** Triggers one batch after the other until the signal is aborted; then the last one has ended. */
  run(signal: AbortSignal): Promise<void>
}

export interface DoorbellSettings {
  readonly times: DoorbellTimes
  readonly time: Pick<Time, 'now' | 'sleep'>
  /**
   * Syncs these collections. Answers when the sync has ended, or soon after the signal is aborted;
   * never throws.
   */
  readonly trigger: (batch: Batch, signal: AbortSignal) => Promise<Result>
}

export function createDoorbell({ times, time, trigger }: DoorbellSettings): Doorbell {
  let state = SILENT
  let wake = () => {}
  return {
    ring(collections, reason) {
      state = ring(state, collections, reason, time.now())
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
      if (due === undefined) await rung()
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

  function rung(): Promise<void> {
    return new Promise((resolve) => {
      wake = resolve
    })
  }
}
