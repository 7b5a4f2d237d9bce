import type { FailureId } from './message-ids.ts'
import { nearest } from './text.ts'

/**
 * Who has to act on a failure, in the words of the Airbyte protocol's `failure_type` without their suffix. `config`:
 * the user has to change something. `transient`: a later attempt can succeed. `system`: the connector or the service
 * broke its contract.
 */
export type FailureType = 'config' | 'transient' | 'system'

/** Optional details of a failure. */
interface ConnectorErrorOptions extends ErrorOptions {
  readonly retryAfterMs?: number | undefined
}

/**
 * A failure with a message for the user: what happened, to which stream or setting, and what to do. The details
 * for developers are in `cause`. Neither contains a secret.
 */
export class ConnectorError extends Error {
  override name = 'ConnectorError'
  readonly failure: FailureType
  /** Identifies the message; it stays the same when the wording changes. */
  readonly id: FailureId
  /** How long the service asks clients to wait; undefined if it does not say. */
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

/** The process was asked to stop (SIGTERM), or the reader of its output is gone. It is not reported as a failure. */
export class InterruptedError extends Error {
  override name = 'InterruptedError'
}

/** The exit code of `protime` and of the programs of the warehouse library: 2 if only a person can correct what failed. */
export function exitCodeOf(failures: readonly { readonly error: ConnectorError }[]): 0 | 1 | 2 {
  if (failures.length === 0) return 0
  return failures.every(({ error }) => error.failure === 'config') ? 2 : 1
}

/** What the system says of a path that leads through a file or in a circle, is too long, or is not for this user. */
const UNREACHABLE: readonly unknown[] = [
  ...['ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'EACCES', 'EPERM', 'EROFS'],
]

/**
 * Converts any thrown value to a `ConnectorError`. A path that cannot be reached is for whoever has named it to correct;
 * anything else that is unexpected is the connector's own fault: `system`.
 */
export function asConnectorError(error: unknown): ConnectorError {
  if (error instanceof ConnectorError) return error
  const { code, path } = Object(error) as NodeJS.ErrnoException
  if (path !== undefined && UNREACHABLE.includes(code))
    return new ConnectorError(
      'config',
      'path-not-reached',
      `${path} cannot be reached (${code}). Name another path, or let this user read and write there.`,
      { cause: error },
    )
  const text = error instanceof Error ? error.message : String(error)
  return new ConnectorError(
    'system',
    'unexpected',
    `Unexpected error in the connector: ${text}${/[.!?]$/.test(text) ? '' : '.'} This is a fault of the connector: report it.`,
    { cause: error },
  )
}

/**
 * The error for a requested stream that is not among the `offered` ones. It suggests a similar name, or appends
 * `hint`.
 */
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
  const reason = 'There is no stream of this name.'
  return new ConnectorError(
    'config',
    'unknown-stream',
    hint === undefined ? reason : `${reason} ${hint}`,
  )
}
