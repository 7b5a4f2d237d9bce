import type { SyncResult } from '../serve/sync-scheduler.ts'

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

/** What a request failed with, in words, without a full stop. */
export function sentence(error: unknown): string {
  return (error as Error).message.replace(/\.$/, '')
}
