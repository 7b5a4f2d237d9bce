import type { Traffic } from '../http/client.ts'
import type { Failure } from '../protocol/connector.ts'
import type { Task } from './job.ts'

/**
 * One line at the end of a sync: what failed, what was written, and what it took. Zeros are left
 * out. A failure without a stream is one of all streams.
 */
export function summary(
  tasks: readonly Task[],
  failures: readonly Failure[],
  { requests, retries, refusals, bytes }: Omit<Traffic, 'answerMs'>,
  seconds: number,
): string {
  const rows = tasks.map(({ job, output: { counts } }) => ({ name: job.stream.stream, ...counts }))
  const handedOver = rows.filter(({ records, deletes }) => records + deletes > 0)
  const each = handedOver.map((row) => `${row.name} ${rowsOf(row)}`).join(', ')
  const total = rowsOf({ records: sum(rows, 'records'), deletes: sum(rows, 'deletes') })
  const effort = [
    many(requests, 'request'),
    many(retries, 'retry', 'retries'),
    many(refusals, 'refusal'),
    bytes < 50_000 ? '' : `${(bytes / 1e6).toFixed(1)} MB`,
    `${seconds.toFixed(1)} s`,
  ]
  const what = handedOver.length === 0 ? 'no records' : `${total} (${each})`
  return `${verdict(rows, failures)} ${what}; ${listed(effort)}.${untracked(rows)}`
}

function untracked(rows: readonly { name: string; isTracked: boolean }[]): string {
  const names = rows.filter(({ isTracked }) => !isTracked).map(({ name }) => name)
  return names.length === 0
    ? ''
    : ` Rows that vanish are not deleted, because the state cannot hold the ids: ${names.join(', ')}.`
}

function verdict(rows: readonly { name: string }[], failures: readonly Failure[]): string {
  if (failures.length === 0) return `Sync finished: ${many(rows.length, 'stream')},`
  const names = failures.flatMap(({ stream }) => stream ?? rows.map(({ name }) => name))
  const all = new Set([...names, ...rows.map(({ name }) => name)])
  if (all.size > 1 && names.length === all.size)
    return `Sync failed for all ${all.size} streams. Handed over:`
  return `Sync failed for ${names.length} of ${many(all.size, 'stream')}: ${names.join(', ')}. Handed over:`
}

function rowsOf({ records, deletes }: { records: number; deletes: number }): string {
  return listed([many(records, 'record'), many(deletes, 'delete')], ' and ')
}

function sum<K extends string>(rows: readonly Readonly<Record<K, number>>[], key: K): number {
  return rows.reduce((total, row) => total + row[key], 0)
}

/** "1 retry", "2 retries"; nothing for none. */
function many(count: number, one: string, several = `${one}s`): string {
  return count === 0 ? '' : `${count} ${count === 1 ? one : several}`
}

function listed(parts: readonly string[], separator = ', '): string {
  return parts.filter(Boolean).join(separator)
}
