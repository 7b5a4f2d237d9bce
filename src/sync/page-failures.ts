import type { HttpError } from '../http/http-error.ts'
import { MalformedPageError } from '../page/malformed-page.ts'
import { ConnectorError } from '../protocol/errors.ts'

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

/** The failure of a page as the operator is to read it; what is no page's failure passes. */
export function pageFailure(error: unknown): unknown {
  if (!(error instanceof MalformedPageError)) {
    return error instanceof InterruptedPageError
      ? new ConnectorError('transient', error.message, { cause: error })
      : error
  }
  return new ConnectorError(
    'system',
    `A page of the service is damaged: ${error.message}. Nothing of it counts as read; tell the operator of the service if it comes again.`,
    { cause: error },
  )
}

/** The failure of a body that does not end. */
export function endlessBody(): ConnectorError {
  return new ConnectorError(
    'system',
    'The service sends a page without an end. Nothing after the last complete page counts as read; tell the operator of the service.',
  )
}

/** The failure of a chain of pages that does not end, or that is a circle. */
export function endlessChain(isRepeated: boolean): ConnectorError {
  return new ConnectorError(
    'system',
    isRepeated
      ? 'The service sent a next link that it had sent before: the chain of pages would never end. Tell the operator of the service.'
      : 'The service sends page after page without an end. Tell the operator of the service.',
  )
}

/** A conflict on a list that stayed when it was requested again. */
export function listConflict(refusal: HttpError, tries: number): ConnectorError {
  return new ConnectorError(
    'transient',
    `The service reported a conflict each of the ${tries} times that this list was asked for. The next sync tries again; tell the operator of the service if it stays. ${refusal.message}`,
    { cause: refusal },
  )
}
