import { type StreamProgress, type SyncProgress, totalOf } from './sync-progress.ts'
import { cut, fitted, grouped } from './words.ts'

/** A sync that is at its end, as lines: a row per stream, and what all of them come to. */
export function tableLines(sync: SyncProgress, columns: number): readonly string[] {
  const { streams, traffic, seconds } = sync
  const total = totalOf(streams)
  const shown = COLUMNS.filter(({ least }) => columns >= least)
  const rows = [
    shown.map(({ title }) => title),
    ...streams.map((stream) => shown.map(({ cell }) => cell(stream))),
    shown.map(({ title }) => sums[title]?.(total.records, total.deletes, seconds) ?? ''),
  ]
  const widths = shown.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  const aligned = (text: string, i: number) =>
    isText(shown[i]) ? text.padEnd(widths[i] ?? 0) : text.padStart(widths[i] ?? 0)
  const lines = rows.map((row) => cut(row.map(aligned).join('  ').trimEnd(), columns))
  const effort = [
    `${grouped(traffic.requests)} requests`,
    ...(traffic.retries > 0 ? [`${grouped(traffic.retries)} retries`] : []),
    ...(traffic.refusals > 0 ? [`${grouped(traffic.refusals)} refusals`] : []),
    `${(traffic.bytes / 1e6).toFixed(1)} MB`,
  ]
  return [...lines, fitted(effort, columns)]
}

interface Column {
  readonly title: 'stream' | 'rows' | 'deletes' | 'seconds' | 'how'
  /** The narrowest terminal that shows it. */
  readonly least: number
  cell(stream: StreamProgress): string
}

const COLUMNS: readonly Column[] = [
  { title: 'stream', least: 0, cell: ({ name }) => name },
  { title: 'rows', least: 0, cell: ({ counts }) => grouped(counts.records) },
  { title: 'deletes', least: 60, cell: ({ counts }) => grouped(counts.deletes) },
  { title: 'seconds', least: 60, cell: ({ seconds }) => seconds.toFixed(1) },
  { title: 'how', least: 40, cell: howOf },
]

const sums: Readonly<Record<string, (rows: number, deletes: number, seconds: number) => string>> = {
  stream: () => 'total',
  rows: (rows) => grouped(rows),
  deletes: (_, deletes) => grouped(deletes),
  seconds: (_rows, _deletes, seconds) => seconds.toFixed(1),
}

function howOf({ status, start, isBegun }: StreamProgress): string {
  if (!isBegun) return status === 'failed' ? 'failed' : 'not read'
  if (status === 'complete') return start.how
  return `${status === 'failed' ? 'failed' : 'stopped'}, ${start.how}`
}

function isText(column: Column | undefined): boolean {
  return column?.title === 'stream' || column?.title === 'how'
}
