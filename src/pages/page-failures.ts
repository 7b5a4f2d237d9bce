import { ConnectorError } from '../ground/errors.ts'
import type { Time } from '../http/clock.ts'
import { HttpError } from '../http/http-error.ts'
import { createFailureCount, type RetryPolicy, waitMs } from '../http/retry.ts'
import {
  LastingDamageError,
  MalformedPageError,
  RecordTooLargeError,
} from '../page/page-scanner.ts'

/** Whether the collection does not have this operation. Only for links that the connector created. */
export function isNotOffered(error: unknown): error is HttpError {
  return error instanceof HttpError && error.is('not offered')
}

/**
 * Why a link cannot be used. `expired`: the service no longer knows it. `used`: a request whose answer was lost has
 * used it up. `unusable`: neither the service nor the connector can follow it.
 */
export type DeadLinkReason = 'expired' | 'used' | 'unusable'

/** A link that the service no longer answers; the stream has to start over. */
export class DeadLinkError extends Error {
  override name = 'DeadLinkError'
  readonly why: DeadLinkReason

  constructor(why: DeadLinkReason, message: string) {
    super(message)
    this.why = why
  }
}

/** The connection broke while a large page was being written. */
export class InterruptedPageError extends Error {
  override name = 'InterruptedPageError'
}

/** Whether a page failed because its content was damaged. */
export function isDamaged(error: unknown): boolean {
  return error instanceof ConnectorError && error.cause instanceof MalformedPageError
}

/** Converts the failure of a page to an error for the operator; other errors are returned unchanged. */
export function pageFailure(error: unknown): unknown {
  if (!(error instanceof MalformedPageError)) {
    return error instanceof InterruptedPageError
      ? new ConnectorError('transient', 'connection-broke', error.message, { cause: error })
      : error
  }
  if (error instanceof RecordTooLargeError) {
    return new ConnectorError(
      'system',
      'record-too-large',
      `A page of the service cannot be read: ${error.message}. If the size is right, increase max_record_mb; otherwise tell the operator of the service.`,
      { cause: error },
    )
  }
  return new ConnectorError(
    'system',
    'page-damaged',
    `A page of the service is damaged: ${error.message}. The page was discarded; tell the operator of the service if it happens again.`,
    { cause: error },
  )
}

/** The error for an endless body. */
export function endlessBody(): ConnectorError {
  return new ConnectorError(
    'system',
    'page-without-end',
    'The service sends a page without an end. Everything after the last complete page was discarded; tell the operator of the service.',
  )
}

/** The error for a page that would need too much memory. */
export function pageTooLarge(most: number): ConnectorError {
  return new ConnectorError(
    'system',
    'page-too-large',
    `A page of the service is larger than ${most / 1024 ** 2} MiB, the limit for a page that is read as a whole. The page was discarded; tell the operator of the service.`,
  )
}

/** The error for an endless or circular chain of pages. */
export function endlessChain(isRepeated: boolean): ConnectorError {
  return isRepeated
    ? new ConnectorError(
        'system',
        'links-in-a-circle',
        'The service sent a next link that it had sent before: the chain of pages would never end. Tell the operator of the service.',
      )
    : new ConnectorError(
        'system',
        'pages-without-end',
        'The service sends page after page without an end. Tell the operator of the service.',
      )
}

/** The error for a conflict on a list that remained after several requests. */
function listConflict(refusal: HttpError, tries: number): ConnectorError {
  return new ConnectorError(
    'transient',
    'conflict-on-list',
    `The service reported a conflict at each of the ${tries} requests for this list. The next sync tries again; tell the operator of the service if it continues. ${refusal.message}`,
    { cause: refusal },
  )
}

/**
 * The origin of a link. The connector creates the first link of a list, the link that starts a delta, and the link of
 * a single record. Next links and delta links come from the service.
 */
export type LinkKind = 'list' | 'start' | 'single' | 'next' | 'delta'

/** The attempts to read one page. */
type Tries = ReturnType<typeof createTries>

/** Begins to count the attempts. */
export function createTries(time: Time) {
  return { failures: createFailureCount(time), conflicts: 0, isRepeat: false }
}

/** The wait before a failed page is requested again; throws if that would not help. */
export function pauseAfter(
  error: unknown,
  kind: LinkKind,
  tries: Tries,
  retryPolicy: RetryPolicy,
): number {
  const isConflict = kind !== 'next' && error instanceof HttpError && error.is('conflict')
  const pause = isConflict
    ? retryPolicy.conflictMs[tries.conflicts++]
    : pauseMs(error, kind, tries, retryPolicy)
  if (pause === undefined) throw failure(error, kind, tries.conflicts)
  tries.isRepeat ||= !isConflict || error.isRepeat
  return pause
}

/** The wait in milliseconds; undefined if another request would not help. */
function pauseMs(
  error: unknown,
  kind: LinkKind,
  { failures }: Tries,
  retryPolicy: RetryPolicy,
): number | undefined {
  // These are likely to fail again: an answer that is not a single record, or a record that is too large.
  const isAlike =
    kind === 'single' || error instanceof RecordTooLargeError || error instanceof LastingDamageError
  const isDamaged = error instanceof MalformedPageError && !isAlike
  if (!isDamaged && !(error instanceof InterruptedPageError)) return undefined
  const pause = waitMs(failures.now(), retryPolicy)
  failures.add()
  return pause
}

/** Converts the failure of a page to an error for the read of the stream. */
function failure(error: unknown, kind: LinkKind, conflicts: number): unknown {
  if (!(error instanceof HttpError)) return pageFailure(error)
  if (kind === 'list' && error.is('conflict')) return listConflict(error, conflicts)
  const isOurs = kind === 'list' || kind === 'start' || kind === 'single'
  const isDead = error.is('dead link') && !isOurs && !(kind === 'delta' && error.is('conflict'))
  if (!isDead) return error
  return new DeadLinkError(error.is('expired') ? 'expired' : 'unusable', error.message)
}
