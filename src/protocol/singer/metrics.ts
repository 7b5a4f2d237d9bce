import type { ProgressListener } from '../progress/sync-progress.ts'
import type { MetricPoint, SingerLog } from './log.ts'

/** A count of a stream. */
export function counterOf(stream: string, metric: string, value: number): MetricPoint {
  return { type: 'counter', metric, value, tags: { stream } }
}

/**
 * METRIC lines of a sync, by the names of the Meltano SDK where it has one: how long each stream and the
 * whole took, and what the requests came to. They are of all streams, because requests are: one connection,
 * one rate limiter.
 */
export function createSingerMetrics(log: Pick<SingerLog, 'metric'>): ProgressListener {
  return {
    ended({ name, seconds, status }) {
      const tags = { stream: name, status: statusOf(status === 'complete') }
      log.metric({ type: 'timer', metric: 'sync_duration', value: seconds, tags })
    },
    finished(sync, { failures, stoppedBy }) {
      if (sync === undefined) return
      const { requests, retries, refusals, bytes, answerMs } = sync.traffic
      const counts = {
        http_request_count: requests,
        http_retry_count: retries,
        http_refusal_count: refusals,
        http_response_bytes: bytes,
      }
      for (const [metric, value] of Object.entries(counts))
        log.metric({ type: 'counter', metric, value, tags: {} })
      const status = statusOf(failures.length === 0 && stoppedBy === undefined)
      const timers = { http_request_duration: answerMs / 1000, job_duration: sync.seconds }
      for (const [metric, value] of Object.entries(timers))
        log.metric({ type: 'timer', metric, value, tags: { job_type: 'sync', status } })
    },
  }
}

function statusOf(isSuccess: boolean): string {
  return isSuccess ? 'succeeded' : 'failed'
}
