import { ConnectorError, type FailureType } from '../protocol/errors.ts'

/** What is known of a failure; see the fields of `ClientError`. */
export interface ClientErrorFacts extends ErrorOptions {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly reasons?: readonly string[]
  readonly mayHaveHappened?: boolean
  readonly missingScope?: string | undefined
}

/** A request to the service that failed. The message holds no value of a reference and no secret. */
export class ClientError extends ConnectorError {
  override name = 'ClientError'
  /** Undefined when no answer came, or when the request was refused before it was sent. */
  readonly status: number | undefined
  /** The service's own code, such as `NotFound`. */
  readonly code: string | undefined
  /** The service's own words, one sentence each; empty when it gave none. */
  readonly reasons: readonly string[]
  /** True when the service may have done what was asked for although it did not say so. */
  readonly mayHaveHappened: boolean
  /** The full name of the scope that the client lacks, or probably lacks. */
  readonly missingScope: string | undefined

  constructor(failure: FailureType, message: string, facts: ClientErrorFacts = {}) {
    super(failure, message, facts.cause === undefined ? {} : { cause: facts.cause })
    this.status = facts.status
    this.code = facts.code
    this.reasons = facts.reasons ?? []
    this.mayHaveHappened = facts.mayHaveHappened ?? false
    this.missingScope = facts.missingScope
  }

  /** Whether another permission would help. */
  get isMissingScope(): boolean {
    return this.missingScope !== undefined
  }
}
