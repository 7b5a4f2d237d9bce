import { emitDelta } from '../emit-delta.ts'
import { changedRows } from '../emit-pages.ts'
import type { Changes, Position } from '../position.ts'
import type { StreamContext } from '../stream-context.ts'

/** Follows the delta link once: everything that changed since the service sent it. */
export async function changes(position: Changes, context: StreamContext): Promise<Position> {
  const { reading, output } = context
  const requested: Changes = { ...position, requested: true }
  if (!position.requested) {
    reading.moveTo(requested)
    // Should this process die before the answer is written, the next one knows of the request.
    await output.state()
  }
  const rows = changedRows(reading.stream.dateField, reading.start, position.window)
  const delta = await emitDelta(position.delta.url, 'delta', context, rows, (page) => ({
    ...requested,
    delta: page,
  }))
  return { phase: 'complete', next: { ...position, delta, requested: false, maybeConsumed: false } }
}
