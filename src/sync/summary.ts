import type { Traffic } from '../api/client.ts'
import type { Task } from './task.ts'

/** One line at the end of a sync: what each stream handed over, and what it took. */
export function summary(
  tasks: readonly Task[],
  { requests, retries, refusals, bytes }: Traffic,
  seconds: number,
): string {
  const streams = tasks.map(({ job, output: { counts } }) => {
    const deletes = counts.deletes > 0 ? ` and ${counts.deletes} deletes` : ''
    return `${job.stream.stream} ${counts.records} records${deletes}`
  })
  const megabytes = (bytes / 1e6).toFixed(1)
  return `Sync finished: ${streams.join(', ')}; ${requests} requests, ${retries} retries, ${refusals} refused, ${megabytes} MB, ${seconds.toFixed(1)} s.`
}
