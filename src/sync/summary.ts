import type { Failure, SyncTraffic } from '../protocol/connector.ts'
import { effortOf, many, rowsInWords, rowsOf, totalOf } from '../protocol/progress/sync-progress.ts'
import type { StreamTask } from './stream-task.ts'

/**
 * One line at the end of a sync: what failed, what was written, and what it took. Zeros are left
 * out. A failure without a stream is one of all streams.
 */
export function summary(
  tasks: readonly StreamTask[],
  failures: readonly Failure[],
  traffic: SyncTraffic,
  seconds: number,
): string {
  const streams = tasks.map(({ stream, output: { counts } }) => ({ name: stream.stream, counts }))
  const each = streams
    .filter(({ counts }) => rowsOf(counts) > 0)
    .map(({ name, counts }) => `${name} ${rowsInWords(counts)}`)
  const total = rowsInWords(totalOf(streams))
  const what = each.length === 0 ? total : `${total} (${each.join(', ')})`
  const effort = [...effortOf(traffic), `${seconds.toFixed(1)} s`].join(', ')
  return `${verdict(streams, failures)} ${what}; ${effort}.${untracked(tasks)}`
}

function untracked(tasks: readonly StreamTask[]): string {
  const names = tasks
    .filter(({ output }) => !output.counts.isTracked)
    .map(({ stream }) => stream.stream)
  return names.length === 0
    ? ''
    : ` Rows that vanish are not deleted, because the state cannot hold the ids: ${names.join(', ')}.`
}

function verdict(streams: readonly { name: string }[], failures: readonly Failure[]): string {
  if (failures.length === 0) return `Sync finished: ${many(streams.length, 'stream')},`
  const names = failures.flatMap(({ stream }) => stream ?? streams.map(({ name }) => name))
  const all = new Set([...names, ...streams.map(({ name }) => name)])
  if (all.size > 1 && names.length === all.size)
    return `Sync failed for all ${all.size} streams. Handed over:`
  return `Sync failed for ${names.length} of ${many(all.size, 'stream')}: ${names.join(', ')}. Handed over:`
}
