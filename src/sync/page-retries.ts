import { HttpError } from '../http/http-error.ts'
import {
  createFailureCount,
  type FailureCount,
  type RetryPolicy,
  waitMs,
} from '../http/retry-policy.ts'
import type { Time } from '../http/time.ts'
import { MalformedPageError, RecordTooLargeError } from '../page/malformed-page.ts'
import { DeadLinkError, InterruptedPageError, listConflict, pageFailure } from './page-failures.ts'

/**
 * Where a link comes from: the first of a list or the start of a delta, which are made by us; a next
 * link of the service, or its delta link.
 */
export type LinkKind = 'list' | 'start' | 'next' | 'delta'

/** What a page that failed has been through. */
export interface Tries {
  readonly failures: FailureCount
  conflicts: number
  isRepeat: boolean
}

export function createTries(time: Time): Tries {
  return { failures: createFailureCount(time), conflicts: 0, isRepeat: false }
}

/** Statuses by which the service says that a token in a link is of no use any more . */
const DEAD: ReadonlySet<number> = new Set([400, 404, 409, 410])
/** Those among them that are about what was a good link once. */
const EXPIRED: ReadonlySet<number> = new Set([409, 410])
const CONFLICT = 409
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
    : pauseMs(error, tries, retryPolicy)
  if (pause === undefined) throw failure(error, kind, tries.conflicts)
  tries.isRepeat ||= conflict === undefined || conflict.isRepeat
  return pause
}

/** Undefined when a repetition would not help. */
function pauseMs(
  error: unknown,
  { failures }: Tries,
  retryPolicy: RetryPolicy,
): number | undefined {
  const isDamaged = error instanceof MalformedPageError && !(error instanceof RecordTooLargeError)
  if (!isDamaged && !(error instanceof InterruptedPageError)) return undefined
  const pause = waitMs(failures.now(), retryPolicy)
  failures.add()
  return pause
}

function conflictOf(error: unknown): HttpError | undefined {
  return error instanceof HttpError && error.status === CONFLICT ? error : undefined
}

/** What a page failed with, as the reading of the stream is to see it. */
function failure(error: unknown, kind: LinkKind, conflicts: number): unknown {
  if (!(error instanceof HttpError)) return pageFailure(error)
  if (kind === 'list' && error.status === CONFLICT) return listConflict(error, conflicts)
  const isOurs = kind === 'list' || kind === 'start'
  const isDead =
    DEAD.has(error.status) && !isOurs && !(kind === 'delta' && error.status === CONFLICT)
  if (!isDead) return error
  return new DeadLinkError(EXPIRED.has(error.status) ? 'expired' : 'unusable', error.message)
}
