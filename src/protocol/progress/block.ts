import type { Rates } from './rates.ts'
import {
  endedOf,
  rowsOf,
  type StreamProgress,
  type SyncProgress,
  totalOf,
} from './sync-progress.ts'
import { clockTime, cut, fitted, grouped } from './words.ts'

export interface BlockSize {
  readonly columns: number
  readonly rows: number
}

/** Lines of the block that are not of a stream: what is more, the sync, and why it waits. */
const OTHER_LINES = 3

/** How far a sync is, as lines that fit into a terminal: the streams at work, then all of it. */
export function blockLines(
  sync: SyncProgress,
  rates: Rates,
  { columns, rows }: BlockSize,
): readonly string[] {
  // A line that fills the last column moves the cursor on in some terminals.
  const width = columns - 1
  const working = sync.streams.filter(({ status }) => status === 'working')
  const shown = working.slice(0, Math.max(1, rows - OTHER_LINES - 1))
  const hidden = working.length - shown.length
  const pad = Math.min(30, Math.max(0, ...shown.map(({ name }) => name.length)))
  const trouble = sync.trouble()
  return [
    ...shown.map((stream) => fitted(partsOf(stream, rates, pad), width)),
    ...(hidden > 0 ? [cut(`  and ${hidden} more`, width)] : []),
    fitted(totals(sync, rates), width),
    ...(trouble === undefined ? [] : [cut(`waiting: ${trouble}`, width)]),
  ]
}

function partsOf({ name, counts, start }: StreamProgress, rates: Rates, pad: number): string[] {
  const rows = rowsOf(counts)
  return [
    `  ${name.padEnd(pad)} ${grouped(rows)} rows`,
    `${grouped(rates.perSecond(name, rows))}/s`,
    ...(start.expected === undefined
      ? []
      : [`${percent(rows, start.expected)} % of about ${grouped(start.expected)}`]),
  ]
}

function totals(sync: SyncProgress, rates: Rates): string[] {
  const rows = rowsOf(totalOf(sync.streams))
  const rate = rates.perSecond('', rows)
  const left = rowsLeft(sync.streams)
  return [
    `${endedOf(sync.streams)} of ${sync.streams.length} streams`,
    `${grouped(rows)} rows`,
    `${grouped(rate)}/s`,
    clockTime(sync.seconds),
    ...(left !== undefined && rate > 0 ? [`about ${clockTime(left / rate)} left`] : []),
  ]
}

/** A sync may find more rows than the one before it. */
function percent(rows: number, expected: number): number {
  return Math.min(99, Math.floor((rows / Math.max(1, expected)) * 100))
}

/** How many rows are to come; undefined when a stream that is read as a whole has no earlier count. */
function rowsLeft(streams: readonly StreamProgress[]): number | undefined {
  let left = 0
  for (const { status, start, counts } of streams) {
    // How much has changed is what a sync finds out; it is little beside a whole reading.
    if (status === 'complete' || status === 'failed' || start.kind === 'changes') continue
    if (start.expected === undefined) return undefined
    left += Math.max(0, start.expected - rowsOf(counts))
  }
  return left === 0 ? undefined : left
}
