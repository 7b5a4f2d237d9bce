/** Who has to act: the person who configured the tenant, time, or a developer. */
export type FailureType = 'config' | 'transient' | 'system'

/** Why a sync failed, or one of its streams. */
export interface Failure {
  readonly type: FailureType
  readonly message: string
  /** Without it the failure is the whole sync's. */
  readonly stream?: string
}

/** A failure of the sync itself, with a sentence for the operator. */
export class SyncError extends Error {
  override name = 'SyncError'
  readonly type: FailureType

  constructor(type: FailureType, message: string) {
    super(message)
    this.type = type
  }
}

/** Any thrown value as a failure; what nobody foresaw is a failure of the system. */
export function asFailure(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error)
  return { type: error instanceof SyncError ? error.type : 'system', message }
}
