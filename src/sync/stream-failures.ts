import { ConnectorError } from '../ground/errors.ts'
import type { HttpError } from '../http/http-error.ts'
import { DeadLinkError } from '../pages/page-failures.ts'
import { changesAfter, isOfDelta, type Position } from './position.ts'
import type { StateValues } from './stored-state.ts'

/** The error for a delta that the service offered before and now refuses. A list instead would cover other days. */
export function refusedDelta(error: HttpError): ConnectorError {
  return new ConnectorError(
    'transient',
    'delta-refused',
    `The service refused the delta of this collection, which it offered before. Nothing is lost, and the next sync tries again; if the service no longer offers this delta, the stream has to be read from the beginning, from its list. ${error.message}`,
    { cause: error },
  )
}

/**
 * What a conflict (409) on a delta means. Usually another consumer causes it, and starting over would end that consumer's
 * delta. But if this link may have been requested before and its answer was lost, the link is used up, and only starting
 * over helps.
 */
export function conflictOn(
  conflict: HttpError,
  position: Position,
): DeadLinkError | ConnectorError {
  if (position.phase === 'changes' && (position.maybeConsumed || conflict.isRepeat))
    return new DeadLinkError('used', conflict.message)
  return new ConnectorError(
    'transient',
    'another-consumer',
    `Another consumer seems to read the changes of this collection: the service allows one active delta for each collection. Make sure that no second connection or program reads it with the same client; the next sync tries again. ${conflict.message}`,
    { cause: conflict },
  )
}

/**
 * The error for a delta without a link to its changes. A stored link may be wrong; reading from the beginning
 * corrects that.
 */
export function withoutDeltaLink(isContinued: boolean): Error {
  const what = 'The service responded to a delta without a link to its changes.'
  if (isContinued) return new DeadLinkError('unusable', what)
  return new ConnectorError(
    'system',
    'no-delta-link',
    `${what} Nothing is lost; tell the operator of the service if it happens again.`,
  )
}

/** Failures that do not come from the answers of the service. */
const OWN_FAULTS: ReadonlySet<string> = new Set(['library-misused', 'state-not-valid'])

/**
 * Whether a failure of a list or a single record concerns only work in addition to a delta. The days that leave are listed
 * before the delta is followed.
 */
export function isExtra(error: unknown, position: Position): boolean {
  if (changesAfter(position) === undefined && !isOfDelta(position)) return false
  if (error instanceof DeadLinkError) return true
  return error instanceof ConnectorError && !OWN_FAULTS.has(error.id)
}

/** What it depends on whether a read can start over. */
interface Attempt extends Pick<StateValues, 'mode' | 'refresh'> {
  readonly isTracked: boolean
  /** The pages of this attempt, and of the best one before it. */
  readonly pages: number
  readonly best: number
}

/** The error for a read that cannot start over after its link has died; undefined if it can. */
export function failureOfRestart(
  error: DeadLinkError,
  { mode, refresh, isTracked, pages, best }: Attempt,
): ConnectorError | undefined {
  if (mode === 'full_refresh' && !isTracked) return refreshNotRepeated(error, refresh !== null)
  return pages <= best ? neverFinishes(error) : undefined
}

/**
 * The error for a full refresh that cannot start over: without the ids of the rows it has sent, it would send them
 * twice.
 */
function refreshNotRepeated(error: DeadLinkError, isNumbered: boolean): ConnectorError {
  const next = isNumbered
    ? 'Further attempts of this job fail as well; the next job has another generation_id, and starts it from the beginning.'
    : 'The next sync starts it from the beginning.'
  return new ConnectorError(
    'transient',
    'refresh-not-repeated',
    `This full refresh cannot start over, because the ids of the rows that it has sent do not fit into the state, and these rows would be sent twice. ${next} Read the stream as incremental if this happens again. ${error.message}`,
    { cause: error },
  )
}

function neverFinishes(error: DeadLinkError): ConnectorError {
  return new ConnectorError(
    'transient',
    'links-die',
    `The service's links expire before the stream is complete, probably because another program reads this tenant with the same client at this moment. The next sync tries again. ${error.message}`,
    { cause: error },
  )
}
