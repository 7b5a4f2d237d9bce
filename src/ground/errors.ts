import type { FailureId } from './message-ids.ts'
import { nearest } from './text.ts'

/**
 * Who has to act on a failure. The words are those of the Airbyte protocol's `failure_type`
 * without their suffix: the user must change something, time will help, or the connector or the
 * service broke its contract.
 */
export type FailureType = 'config' | 'transient' | 'system'

/** What else is known of a failure. */
interface ConnectorErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined
}

/**
 * A failure with a sentence for the operator: what happened, to what, and what to do.
 * The developer's detail is the `cause`. Neither holds a secret.
 */
export class ConnectorError extends Error {
  override name = 'ConnectorError'
  readonly failure: FailureType
  /** Names the message, and stays when its words change. */
  readonly id: FailureId
  /** For how long the service asks to be left alone; undefined where it does not say. */
  readonly retryAfterMs: number | undefined

  constructor(
    failure: FailureType,
    id: FailureId,
    message: string,
    options?: ConnectorErrorOptions,
  ) {
    super(message, options)
    this.failure = failure
    this.id = id
    this.retryAfterMs = options?.retryAfterMs
  }
}

/** The process was asked to stop (SIGTERM), or its reader is gone: nothing is to be reported. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
}

/** Any thrown value as a failure of this family; what nobody foresaw is the connector's own fault. */
export function asConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error
  const text = error instanceof Error ? error.message : String(error)
  return new ConnectorError('system', 'unexpected', `Unexpected error in the connector: ${text}`, {
    cause: error,
  })
}

/** The failure of a stream that was asked for and that is not among those `offered`. */
export function unknownStream(
  name: string,
  offered: Iterable<string>,
  hint?: string,
): ConnectorError {
  const meant = nearest(name, offered)
  if (meant !== undefined)
    return new ConnectorError(
      'config',
      'misspelled-stream',
      `There is no stream of this name; did you mean ${meant}?`,
    )
  const reason = 'There is no stream of this name. Discover the streams again.'
  return new ConnectorError(
    'config',
    'unknown-stream',
    hint === undefined ? reason : `${reason} ${hint}`,
  )
}
