import { HttpError } from '../http/http-error.ts'
import { ConnectorError } from '../protocol/errors.ts'
import { type EmitSettings, emitPages } from './emit-pages.ts'
import { DeadLinkError } from './page-failures.ts'
import type { LinkKind } from './page-retries.ts'
import type { Link, Position } from './position.ts'
import type { StreamContext } from './stream-context.ts'

/**
 * Writes the records of a delta from `first` on, and moves the reading to `positionAt` each next page.
 * Answers with the delta link at its end, which tells of the changes since.
 */
export async function emitDelta(
  first: string,
  kind: LinkKind,
  context: StreamContext,
  settings: EmitSettings,
  positionAt: (page: Link) => Position,
): Promise<Link> {
  const { reading, clock, output } = context
  let deltaLink: string | undefined
  try {
    for await (const end of emitPages(first, kind, context, settings)) {
      deltaLink = end.deltaLink
      if (end.nextLink === undefined) continue
      reading.moveTo(positionAt({ url: end.nextLink, at: clock.now() }))
      await output.checkpoint()
    }
  } catch (error) {
    throw isConflict(error) ? await conflictError(error, context) : error
  }
  if (deltaLink === undefined) throw withoutDeltaLink(reading.isContinued)
  return { url: deltaLink, at: clock.now() }
}

function isConflict(error: unknown): error is HttpError {
  return error instanceof HttpError && error.status === 409
}

/**
 * What the conflict 409 of a delta means. It is another consumer's doing, and starting over would take
 * the delta away from it; unless this very link may have been requested before, and its answer lost:
 * then it is used up, and nobody else can mend that.
 */
async function conflictError(
  conflict: HttpError,
  { reading, output }: StreamContext,
): Promise<Error> {
  const { position } = reading
  if (position.phase === 'changes') {
    if (position.maybeConsumed || conflict.isRepeat)
      return new DeadLinkError('used', conflict.message)
    reading.moveTo({ ...position, requested: false })
  }
  await output.state()
  return new ConnectorError(
    'transient',
    `Another consumer seems to read the changes of this collection: the service allows one active delta for each collection. Make sure that no second connection or program reads it with the same client; the next sync tries again. ${conflict.message}`,
    { cause: conflict },
  )
}

/** A stored link may be none of a delta, which a reading from the beginning mends. */
function withoutDeltaLink(isContinued: boolean): Error {
  const what = 'The service answered a delta without a link to its changes.'
  if (isContinued) return new DeadLinkError('unusable', what)
  return new ConnectorError(
    'system',
    `${what} Nothing is lost; tell the operator of the service if it comes again.`,
  )
}
