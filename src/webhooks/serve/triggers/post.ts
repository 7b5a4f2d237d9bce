import { noAnswer, type Trigger } from './trigger.ts'

/** Statuses by which a scheduler says that a sync is running already, or that it is asked too often. */
const BUSY: ReadonlySet<number> = new Set([409, 423, 429])
const REQUEST_MS = 30_000

/**
 * Posts `{streams, reason}` as JSON to a scheduler. A 2xx takes over: the end of the sync is not known here.
 */
export function createPostTrigger(url: string, requestMs: number = REQUEST_MS): Trigger {
  return async (order, signal) => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ streams: order.streams, reason: order.reason }),
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(requestMs)]),
      })
      await response.body?.cancel()
      const detail = `status ${response.status}`
      if (BUSY.has(response.status)) return { result: 'busy', detail }
      return { result: response.ok ? 'done' : 'failed', detail }
    } catch (error) {
      return { result: 'failed', detail: `no answer (${noAnswer(error)})` }
    }
  }
}
