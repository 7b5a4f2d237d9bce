import { ConnectorError, type FailureType } from '../ground/errors.ts'
import type { FailureId } from '../ground/message-ids.ts'
import { type Endpoints, scopeName } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { meaningOf } from '../http/status.ts'

/** What is known about a failure; see the fields of `ClientError`. */
export interface ClientErrorFacts extends ErrorOptions {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly reasons?: readonly string[]
  readonly mayHaveHappened?: boolean
  readonly missingScope?: string | undefined
  readonly retryAfter?: number | undefined
}

/** A failed request to the service. The message contains no value of a reference and no secret. */
export class ClientError extends ConnectorError {
  override name = 'ClientError'
  /** Undefined if there was no answer, or if the request was refused before it was sent. */
  readonly status: number | undefined
  /** The service's own code, such as `NotFound`. */
  readonly code: string | undefined
  /** The service's own sentences; empty if it gave none. */
  readonly reasons: readonly string[]
  /** True if the request may have had its effect although the service did not say so. */
  readonly mayHaveHappened: boolean
  /** The full name of the scope that the client lacks, or probably lacks. */
  readonly missingScope: string | undefined
  /** How many seconds the service asks you to wait; undefined if it does not say. */
  readonly retryAfter: number | undefined

  constructor(failure: FailureType, id: FailureId, message: string, facts: ClientErrorFacts = {}) {
    super(failure, id, message, facts.cause === undefined ? {} : { cause: facts.cause })
    this.status = facts.status
    this.code = facts.code
    this.reasons = facts.reasons ?? []
    this.mayHaveHappened = facts.mayHaveHappened ?? false
    this.missingScope = facts.missingScope
    this.retryAfter = facts.retryAfter
  }

  /** Whether a further permission would help. */
  get isMissingScope(): boolean {
    return this.missingScope !== undefined
  }
}

/** What is known about a request when it fails. */
export interface FailedRequest {
  readonly endpoints: Endpoints
  /** Such as `job-categories.write`. */
  readonly scope: string
  /** The address in the form that messages show. */
  readonly loggedUrl: string
  readonly mayHaveHappened: boolean
  /** False if the token may lack the scope: the documents do not name it. */
  readonly isScopeKnown: boolean
}

/**
 * Converts the failure of a request to a ClientError; errors that end the process are returned unchanged.
 */
export function toClientError(error: unknown, request: FailedRequest): unknown {
  if (error instanceof ClientError || !(error instanceof ConnectorError)) return error
  const { mayHaveHappened } = request
  const { retryAfterMs } = error
  const retryAfter = retryAfterMs === undefined ? undefined : retryAfterMs / 1000
  if (!(error instanceof HttpError)) {
    return new ClientError(error.failure, error.id, error.message, {
      ...{ mayHaveHappened, retryAfter, cause: error },
    })
  }
  const { status, code, reasons } = error
  // The token was new and, as far as that is known, had the scope, so a 403 is about the record.
  const isOfScope = error.is(request.isScopeKnown ? 'expired token' : 'permission')
  const missingScope = isOfScope ? scopeName(request.endpoints, request.scope) : undefined
  const { wordsOfRecord, idOfRecord } = meaningOf(status)
  const meaning =
    missingScope === undefined
      ? wordsOfRecord
      : `The client probably lacks the scope ${missingScope}; ask the operator of the service for it`
  const message = meaning === undefined ? error.message : inWords(meaning, error, request.loggedUrl)
  const facts = { status, code, reasons, mayHaveHappened, missingScope, retryAfter, cause: error }
  const id = missingScope === undefined ? idOfRecord : undefined
  return new ClientError(error.failure, id ?? error.id, message, facts)
}

/** The failure for a scope that the token is known to lack: no request was sent. */
export function missingScope(endpoints: Endpoints, scope: string): ClientError {
  const name = scopeName(endpoints, scope)
  return new ClientError(
    'config',
    'scope-missing',
    `The client lacks the scope ${name}. Ask the operator of the service for it.`,
    { missingScope: name },
  )
}

function inWords(meaning: string, { status, code, reasons }: HttpError, loggedUrl: string): string {
  const words = [code, ...reasons].filter((word) => word !== undefined).join('; ')
  return `${meaning} (${status} for ${loggedUrl})${words === '' ? '' : `: ${words}`}.`
}
