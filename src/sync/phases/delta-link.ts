import { ConnectorError } from '../../protocol/errors.ts'
import { DeadLinkError } from '../page-failures.ts'
import type { Link } from '../position.ts'
import type { StreamContext } from '../stream-context.ts'

/**
 * The delta link with which the last page of a delta ends. A stored link may be none of a delta, which
 * a reading from the beginning mends.
 */
export function deltaLinkOf(url: string | undefined, { reading, clock }: StreamContext): Link {
  if (url !== undefined) return { url, at: clock.now() }
  const what = 'The service answered a delta without a link to its changes.'
  if (reading.isContinued) throw new DeadLinkError('unusable', what)
  throw new ConnectorError(
    'system',
    `${what} Nothing is lost; tell the operator of the service if it comes again.`,
  )
}
