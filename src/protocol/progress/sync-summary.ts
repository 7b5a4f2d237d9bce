import type { Failure, RowCounts, SyncTraffic } from '../connector.ts'
import { effortOf, many, rowsInWords, rowsOf, totalOf } from './sync-progress.ts'

/** A stream with what was written of it. */
interface SummedStream {
  readonly name: string
  readonly counts: RowCounts & { readonly isTracked: boolean }
}

/**
 * The line at the end of a sync: failures, written rows, and requests. Zeros are left out. A failure without a stream
 * applies to all streams.
 */
export function summary(
  streams: readonly SummedStream[],
  failures: readonly Failure[],
  traffic: SyncTraffic,
  seconds: number,
): string {
  const each = streams
    .filter(({ counts }) => rowsOf(counts) > 0)
    .map(({ name, counts }) => `${name} ${rowsInWords(counts)}`)
  const total = rowsInWords(totalOf(streams))
  const what = each.length === 0 ? total : `${total} (${each.join(', ')})`
  const effort = [...effortOf(traffic), `${seconds.toFixed(1)} s`].join(', ')
  return `${verdict(streams, failures)} ${what}; ${effort}.${untracked(streams)}`
}

function untracked(streams: readonly SummedStream[]): string {
  const names = streams.filter(({ counts }) => !counts.isTracked).map(({ name }) => name)
  return names.length === 0
    ? ''
    : ` Rows that vanish are not deleted, because the state cannot hold the ids: ${names.join(', ')}.`
}

function verdict(streams: readonly SummedStream[], failures: readonly Failure[]): string {
  if (failures.length === 0) return `Sync finished: ${many(streams.length, 'stream')},`
  const names = failures.flatMap(({ stream }) => stream ?? streams.map(({ name }) => name))
  const all = new Set([...names, ...streams.map(({ name }) => name)])
  if (all.size > 1 && names.length === all.size)
    return `Sync failed for all ${all.size} streams. Written:`
  return `Sync failed for ${names.length} of ${many(all.size, 'stream')}: ${names.join(', ')}. Written:`
}
