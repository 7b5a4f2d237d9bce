import { addDays, dayOf, deltaWindow } from '../days.ts'
import { emitPages } from '../emit-pages.ts'
import { emitSlices } from '../emit-slices.ts'
import { isNotOffered } from '../not-offered.ts'
import { LIST, type List, type Position } from '../position.ts'
import { deltaStart, slicesOf } from '../slices.ts'
import type { StreamContext } from '../stream-context.ts'

/**
 * Reads a whole list: of a stream without a delta, or of a full refresh. An interrupted one continues
 * at its page. The rows that an earlier sync read are then older than this one, so an incremental
 * stream is listed once more.
 */
export async function list(position: List, context: StreamContext): Promise<Position> {
  const { reading, config, endpoints, clock, output } = context
  const { stream, start, mode } = reading
  const until = position.until ?? addDays(dayOf(clock.now()), config.futureDays)
  const range = start === null ? undefined : { from: start, until }
  const slices = slicesOf(stream, range, config, endpoints)
  try {
    for await (const listing of emitSlices(slices, position, 'window', context)) {
      reading.moveTo({ phase: 'list', ...listing, until })
      await output.checkpoint()
    }
  } catch (error) {
    const hasDelta = mode === 'full_refresh' && stream.replication === 'delta'
    if (!hasDelta || !isNotOffered(error)) throw error
    await readByDelta(context)
  }
  if (!reading.isContinued || mode === 'full_refresh') return { phase: 'complete', next: 'list' }
  reading.beginAnew(clock.now(), LIST)
  return LIST
}

/** The list does not exist: the first phase of a delta answers the same rows. */
async function readByDelta(context: StreamContext): Promise<void> {
  const { reading, config, endpoints, clock, log } = context
  const { stream, start } = reading
  log.warn(
    `${stream.stream}: the service offers no list of it, so a delta is started to read it whole. Another consumer's delta of this collection ends by that.`,
  )
  const link = deltaStart(stream, deltaWindow(start, clock.now()), config, endpoints)
  // Its pages are no place to continue a list from.
  for await (const _ of emitPages(link, 'start', context, {}));
}
