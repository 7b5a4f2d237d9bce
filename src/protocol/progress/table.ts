import { type StreamProgress, type SyncProgress, totalOf } from './sync-progress.ts'
import { cut, fitted, grouped } from './words.ts'

/** A sync that is at its end, as lines: a row per stream, and what all of them come to. */
export function tableLines(sync: SyncProgress, columns: number): readonly string[] {
  const { streams, traffic, seconds } = sync
  const total = totalOf(streams)
  const sums = ['total', grouped(total.records), grouped(total.deletes), seconds.toFixed(1), '']
  const whole = [
    COLUMNS.map(({ title }) => title),
    ...streams.map((stream) => COLUMNS.map(({ cell }) => cell(stream))),
    sums,
  ]
  const widths = COLUMNS.map((_, i) => Math.max(...whole.map((row) => row[i]?.length ?? 0)))
  const shown = columnsWithin(columns, widths)
  const aligned = (row: readonly string[]) =>
    shown.map((i) => {
      const [text, width] = [row[i] ?? '', widths[i] ?? 0]
      return COLUMNS[i]?.isText ? text.padEnd(width) : text.padStart(width)
    })
  const lines = whole.map((row) => cut(aligned(row).join('  ').trimEnd(), columns))
  const effort = [
    `${grouped(traffic.requests)} requests`,
    ...(traffic.retries > 0 ? [`${grouped(traffic.retries)} retries`] : []),
    ...(traffic.refusals > 0 ? [`${grouped(traffic.refusals)} refusals`] : []),
    `${(traffic.bytes / 1e6).toFixed(1)} MB`,
  ]
  return [...lines, fitted(effort, columns)]
}

interface Column {
  readonly title: string
  readonly isText?: true
  cell(stream: StreamProgress): string
}

const COLUMNS: readonly Column[] = [
  { title: 'stream', isText: true, cell: ({ name }) => name },
  { title: 'rows', cell: ({ counts }) => grouped(counts.records) },
  { title: 'deletes', cell: ({ counts }) => grouped(counts.deletes) },
  { title: 'seconds', cell: ({ seconds }) => seconds.toFixed(1) },
  { title: 'how', isText: true, cell: howOf },
]

/** The sets of columns, by what a narrower terminal leaves out. */
const CHOICES = [
  [0, 1, 2, 3, 4],
  [0, 1, 2, 4],
  [0, 1, 4],
  [0, 1],
]
/** Less of the last column says nothing. */
const LEAST_HOW = 16

/** The most columns that fit; of the last one as much as says something. */
function columnsWithin(columns: number, widths: readonly number[]): readonly number[] {
  const least = widths.map((width, i) => (i === 4 ? Math.min(width, LEAST_HOW) : width))
  const fits = (choice: readonly number[]) =>
    choice.reduce((sum, i) => sum + (least[i] ?? 0) + 2, -2) <= columns
  return CHOICES.find(fits) ?? [0, 1]
}

function howOf({ status, start, isBegun }: StreamProgress): string {
  if (!isBegun) return status === 'failed' ? 'failed' : 'not read'
  if (status === 'complete') return start.how
  return `${status === 'failed' ? 'failed' : 'stopped'}, ${start.how}`
}
