import { inWords, stopInWords } from './log-lines.ts'
import { red, type Screen } from './screen.ts'
import {
  clockTime,
  createRates,
  cut,
  effortOf,
  endedOf,
  fitted,
  grouped,
  type ProgressClock,
  type ProgressListener,
  type Rates,
  rowsOf,
  type StreamProgress,
  type SyncProgress,
  totalOf,
} from './sync-progress.ts'

interface BlockSize {
  readonly columns: number
  readonly rows: number
}

/**
 * The lines of the block that do not show a stream: the number of hidden streams, the totals, and the reason for a
 * wait.
 */
const OTHER_LINES = 3

/** The progress of a sync as lines that fit into a terminal: the streams in progress, then the totals. */
function blockLines(
  sync: SyncProgress,
  rates: Rates,
  { columns, rows }: BlockSize,
): readonly string[] {
  // In some terminals the cursor moves on when a line fills the last column.
  const width = columns - 1
  const working = sync.streams.filter(({ status }) => status === 'working')
  const shown = working.slice(0, Math.max(1, rows - OTHER_LINES - 1))
  const hidden = working.length - shown.length
  const pad = Math.min(30, Math.max(0, ...shown.map(({ name }) => name.length)))
  const retryCause = sync.retryCause()
  return [
    ...shown.map((stream) => fitted(partsOf(stream, rates, pad), width)),
    ...(hidden > 0 ? [cut(`  and ${hidden} more`, width)] : []),
    fitted(totals(sync, rates), width),
    ...(retryCause === undefined ? [] : [cut(`waiting: ${retryCause}`, width)]),
  ]
}

function partsOf({ name, counts, start }: StreamProgress, rates: Rates, pad: number): string[] {
  const rows = rowsOf(counts)
  return [
    `  ${name.padEnd(pad)} ${grouped(rows)} rows`,
    `${grouped(rates.perSecond(name, rows))}/s`,
    ...(start?.expected === undefined
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

/** The progress in percent, at most 99, because a sync may find more rows than the previous one. */
function percent(rows: number, expected: number): number {
  return Math.min(99, Math.floor((rows / Math.max(1, expected)) * 100))
}

/** The number of rows still expected; undefined if a stream that is read completely has no earlier count. */
function rowsLeft(streams: readonly StreamProgress[]): number | undefined {
  let left = 0
  for (const { status, start, counts } of streams) {
    // The number of changes is unknown in advance, but small compared to a complete read.
    if (status === 'complete' || status === 'failed' || start?.kind === 'changes') continue
    if (start?.expected === undefined) return undefined
    left += Math.max(0, start.expected - rowsOf(counts))
  }
  return left === 0 ? undefined : left
}

/** A column of the table. New columns are added to `COLUMNS`. */
interface Column {
  readonly title: string
  /** A narrow terminal leaves out the columns with the lowest priority; two columns always remain. */
  readonly priority: number
  readonly isText?: true
  /** The number of characters to which a longer text may be cut. */
  readonly least?: number
  cell(stream: StreamProgress): string
  /** The cell below the streams. */
  total?(sync: SyncProgress): string
}

const COLUMNS: readonly Column[] = [
  {
    title: 'stream',
    priority: 5,
    isText: true,
    cell: ({ name }) => name,
    total: () => 'total',
  },
  {
    title: 'rows',
    priority: 4,
    cell: ({ counts }) => grouped(counts.records),
    total: ({ streams }) => grouped(totalOf(streams).records),
  },
  {
    title: 'deletes',
    priority: 2,
    cell: ({ counts }) => grouped(counts.deletes),
    total: ({ streams }) => grouped(totalOf(streams).deletes),
  },
  {
    title: 'seconds',
    priority: 1,
    cell: ({ seconds }) => seconds.toFixed(1),
    total: ({ seconds }) => seconds.toFixed(1),
  },
  { title: 'how', priority: 3, isText: true, least: 16, cell: howOf },
]

/** The table for a sync that has ended: one row per stream, and the totals. */
function tableLines(sync: SyncProgress, columns: number): readonly string[] {
  const shown = columnsWithin(
    columns,
    COLUMNS.map((column) => filled(column, sync)),
  )
  const lines = ['title', ...sync.streams, 'total'].map((_, i) => {
    const row = shown.map(({ cells }) => cells[i])
    return cut(row.join('  ').trimEnd(), columns)
  })
  return [...lines, fitted(effortOf(sync.traffic), columns)].filter(Boolean)
}

/** A column with all of its cells, from the title to the total, padded to the same width. */
function filled(column: Column, sync: SyncProgress) {
  const { title, priority, isText, least = Infinity } = column
  const texts = [title, ...sync.streams.map(column.cell), column.total?.(sync) ?? '']
  const width = Math.max(...texts.map(({ length }) => length))
  const cells = texts.map((text) => (isText ? text.padEnd(width) : text.padStart(width)))
  return { priority, cells, least: Math.min(width, least) }
}

/** The columns that fit into a width, given in characters. */
function columnsWithin<C extends { readonly priority: number; readonly least: number }>(
  width: number,
  columns: readonly C[],
): readonly C[] {
  const needed = columns.reduce((sum, { least }) => sum + least + 2, -2)
  if (needed <= width || columns.length === 2) return columns
  const lowest = Math.min(...columns.map(({ priority }) => priority))
  return columnsWithin(
    width,
    columns.filter(({ priority }) => priority !== lowest),
  )
}

function howOf({ status, start, isBegun }: StreamProgress): string {
  if (!isBegun || start === undefined) return status === 'failed' ? 'failed' : 'not read'
  if (status === 'complete') return start.how
  return `${status === 'failed' ? 'failed' : 'stopped'}, ${start.how}`
}

/** The interval between two drawings of the block. */
const DRAW_MS = 250

export interface TerminalSettings {
  readonly screen: Screen
  readonly clock: ProgressClock
  /** What to say if the sync is stopped: where a later one continues. */
  readonly kept: string
  /** False if the program itself reports failures on stderr. */
  readonly tellsFailures: boolean
}

/** Shows the progress of a sync as a block that is redrawn, and a table at its end. */
export function createTerminal(settings: TerminalSettings): ProgressListener {
  const { screen, clock, kept, tellsFailures } = settings
  const rates = createRates(clock.now)
  let stop = () => {}
  return {
    begun(sync) {
      const draw = () => screen.draw(blockLines(sync, rates, screen))
      draw()
      stop = clock.every(DRAW_MS, draw)
    },
    finished(sync, { failures, stoppedBy }) {
      stop()
      screen.draw([])
      const lines = sync === undefined ? [] : [...tableLines(sync, screen.columns)]
      if (stoppedBy) lines.push(stopInWords(sync, stoppedBy, kept))
      if (tellsFailures) lines.push(...failures.map((failure) => red(inWords(failure), screen)))
      if (lines.length > 0) screen.write(`${lines.join('\n')}\n`)
    },
  }
}
