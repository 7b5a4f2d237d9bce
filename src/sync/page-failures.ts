import { ConnectorError } from '../ground/errors.ts'
import type { Time } from '../http/clock.ts'
import { HttpError } from '../http/http-error.ts'
import { createFailureCount, type FailureCount, type RetryPolicy, waitMs } from '../http/retry.ts'
import { MalformedPageError, RecordTooLargeError, TextTooLongError } from '../page/page-scanner.ts'

/** Said of a request of ours: the collection does not have this operation here. */
export function isNotOffered(error: unknown): error is HttpError {
  return error instanceof HttpError && error.is('not offered')
}

/**
 * The service has forgotten what the link stands for; or the link was used up by a request whose
 * answer was lost; or it is none that the service or we can follow.
 */
export type WhyDead = 'expired' | 'used' | 'unusable'

/** A link of the service that it does not answer any more: the reading has to begin anew. */
export class DeadLinkError extends Error {
  override name = 'DeadLinkError'
  readonly why: WhyDead

  constructor(why: WhyDead, message: string) {
    super(message)
    this.why = why
  }
}

/** A large page whose connection broke while it was written. */
export class InterruptedPageError extends Error {
  override name = 'InterruptedPageError'
}

/** Whether a page failed because it was damaged: what the service sent is not what was asked for. */
export function isDamaged(error: unknown): boolean {
  return error instanceof ConnectorError && error.cause instanceof MalformedPageError
}

/** The failure of a page as the operator is to read it; what is no page's failure passes. */
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
      `A page of the service cannot be read: ${error.message}. If that is right, raise max_record_mb; else tell the operator of the service.`,
      { cause: error },
    )
  }
  return new ConnectorError(
    'system',
    'page-damaged',
    `A page of the service is damaged: ${error.message}. No part of it counts as read; tell the operator of the service if it happens again.`,
    { cause: error },
  )
}

/** The failure of a body that does not end. */
export function endlessBody(): ConnectorError {
  return new ConnectorError(
    'system',
    'page-without-end',
    'The service sends a page without an end. Nothing after the last complete page counts as read; tell the operator of the service.',
  )
}

/** The failure of a page that would have to be in memory whole. */
export function pageTooLarge(most: number): ConnectorError {
  return new ConnectorError(
    'system',
    'page-too-large',
    `A page of the service is larger than ${most / 1024 ** 2} MiB, the limit for a page that is read as a whole. No part of it counts as read; tell the operator of the service.`,
  )
}

/** The failure of a chain of pages that does not end, or that is a circle. */
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

/** A conflict on a list that stayed when it was requested again. */
function listConflict(refusal: HttpError, tries: number): ConnectorError {
  return new ConnectorError(
    'transient',
    'conflict-on-list',
    `The service reported a conflict at each of the ${tries} requests for this list. The next sync tries again; tell the operator of the service if it continues. ${refusal.message}`,
    { cause: refusal },
  )
}

/**
 * Where a link comes from: the first of a list, the start of a delta or a record by itself, which are made by
 * us; a next link of the service, or its delta link.
 */
export type LinkKind = 'list' | 'start' | 'single' | 'next' | 'delta'

/** What a page that failed has been through. */
export interface Tries {
  readonly failures: FailureCount
  conflicts: number
  isRepeat: boolean
}

export function createTries(time: Time): Tries {
  return { failures: createFailureCount(time), conflicts: 0, isRepeat: false }
}

/** The wait before a page is requested again; throws what the reading is to see of another failure. */
export function pauseAfter(
  error: unknown,
  kind: LinkKind,
  tries: Tries,
  retryPolicy: RetryPolicy,
): number {
  const conflict = kind === 'next' ? undefined : conflictOf(error)
  const pause = conflict
    ? retryPolicy.conflictMs[tries.conflicts++]
    : pauseMs(error, kind, tries, retryPolicy)
  if (pause === undefined) throw failure(error, kind, tries.conflicts)
  tries.isRepeat ||= conflict === undefined || conflict.isRepeat
  return pause
}

/** Undefined when a repetition would not help. */
function pauseMs(
  error: unknown,
  kind: LinkKind,
  { failures }: Tries,
  retryPolicy: RetryPolicy,
): number | undefined {
  // What answers no record where one is asked for is likely to be made so.
  const isAlike =
    kind === 'single' || error instanceof RecordTooLargeError || error instanceof TextTooLongError
  const isDamaged = error instanceof MalformedPageError && !isAlike
  if (!isDamaged && !(error instanceof InterruptedPageError)) return undefined
  const pause = waitMs(failures.now(), retryPolicy)
  failures.add()
  return pause
}

function conflictOf(error: unknown): HttpError | undefined {
  return error instanceof HttpError && error.is('conflict') ? error : undefined
}

/** What a page failed with, as the reading of the stream is to see it. */
function failure(error: unknown, kind: LinkKind, conflicts: number): unknown {
  if (!(error instanceof HttpError)) return pageFailure(error)
  if (kind === 'list' && error.is('conflict')) return listConflict(error, conflicts)
  const isOurs = kind === 'list' || kind === 'start' || kind === 'single'
  const isDead = error.is('dead link') && !isOurs && !(kind === 'delta' && error.is('conflict'))
  if (!isDead) return error
  return new DeadLinkError(error.is('expired') ? 'expired' : 'unusable', error.message)
}
