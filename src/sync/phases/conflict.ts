import { HttpError } from '../../http/http-error.ts'
import { ConnectorError } from '../../protocol/errors.ts'
import { DeadLinkError } from '../page-failures.ts'
import type { StreamContext } from '../stream-context.ts'

/**
 * What the conflict 409 of a delta means. It is another consumer's doing, and starting over would take
 * the delta away from it; unless this very link may have been requested before, and its answer lost:
 * then it is used up, and nobody else can mend that. Any other error comes back as it is.
 */
export async function conflictError(error: unknown, context: StreamContext): Promise<unknown> {
  if (!(error instanceof HttpError) || error.status !== 409) return error
  const { reading, output } = context
  const { position } = reading
  if (position.phase === 'changes') {
    if (position.maybeConsumed || error.isRepeat) return new DeadLinkError('used', error.message)
    reading.moveTo({ ...position, requested: false })
  }
  await output.state()
  return new ConnectorError(
    'transient',
    `Another consumer seems to read the changes of this collection: the service allows one active delta for each collection. Make sure that no second connection or program reads it with the same client; the next sync tries again. ${error.message}`,
    { cause: error },
  )
}
