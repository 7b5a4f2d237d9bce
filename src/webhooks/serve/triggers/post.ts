import { request } from './request.ts'
import { sentence, type Trigger } from './trigger.ts'

/** Statuses by which a scheduler says that a sync is running already, or that it is asked too often. */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429])

/**
 * Posts `{streams, reason}` as JSON to a scheduler. A 2xx takes over: the end of the sync is not known here.
 */
export function createPostTrigger(url: string, withinMs?: number): Trigger {
  const limit = withinMs === undefined ? {} : { withinMs }
  return async ({ streams, reason }, signal) => {
    try {
      const { status } = await request({
        method: 'POST',
        url,
        body: { streams, reason },
        signal,
        ...limit,
      })
      const detail = `status ${status}`
      if (BUSY.has(status)) return { result: 'busy', detail }
      return { result: status >= 200 && status < 300 ? 'done' : 'failed', detail }
    } catch (error) {
      return { result: 'failed', detail: sentence(error) }
    }
  }
}
