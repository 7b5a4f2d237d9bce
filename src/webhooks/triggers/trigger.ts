import type { SyncResult } from '../serve/sync-scheduler.ts'

/** What a trigger is to sync. */
export interface Order {
  /** Names of streams, such as `access_clockings`. */
  readonly streams: readonly string[]
  readonly reason: string
}

export interface TriggerOutcome {
  readonly result: SyncResult
  /** What happened, in words, without a full stop. */
  readonly detail: string
}

/**
 * Starts a sync and answers when it has ended, or when it is known not to have begun. Once the signal
 * is aborted it answers soon. Never throws.
 */
export interface Trigger {
  (order: Order, signal: AbortSignal): Promise<TriggerOutcome>
  /** Throws a config error when it can be known already that no sync will ever start; within seconds. */
  check?(signal: AbortSignal): Promise<void>
  /** Resolves when what earlier syncs have left behind is gone, once their signal was aborted. */
  stopped?(): Promise<void>
}

/** What a request failed with, in words, without a full stop. */
export function sentence(error: unknown): string {
  return (error as Error).message.replace(/\.$/, '')
}
