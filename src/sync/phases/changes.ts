import { changedRows, emitPages } from '../emit-pages.ts'
import type { Changes, Position } from '../position.ts'
import type { StreamContext } from '../stream-context.ts'
import { conflictError } from './conflict.ts'
import { deltaLinkOf } from './delta-link.ts'

/** Follows the delta link once: everything that changed since the service sent it. */
export async function changes(position: Changes, context: StreamContext): Promise<Position> {
  const { reading, clock, output } = context
  let at: Changes = { ...position, requested: true }
  if (!position.requested) {
    reading.moveTo(at)
    // Should this process die before the answer is written, the next one knows of the request.
    await output.state()
  }
  const rows = changedRows(reading.stream.dateField, reading.start, at.window)
  let deltaLink: string | undefined
  try {
    for await (const end of emitPages(at.delta.url, 'delta', context, rows)) {
      deltaLink = end.deltaLink
      if (end.nextLink === undefined) continue
      at = { ...at, delta: { url: end.nextLink, at: clock.now() } }
      reading.moveTo(at)
      await output.checkpoint()
    }
  } catch (error) {
    throw await conflictError(error, context)
  }
  const delta = deltaLinkOf(deltaLink, context)
  return { phase: 'complete', next: { ...at, delta, requested: false, maybeConsumed: false } }
}
