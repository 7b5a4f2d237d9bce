import { inWords, stopInWords } from './log-lines.ts'
import { red, type Screen } from './screen.ts'
import {
  clockTime,
  createRates,
  cut,
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

/** Lines of the block that are not of a stream: what is more, the sync, and why it waits. */
const OTHER_LINES = 3

/** How far a sync is, as lines that fit into a terminal: the streams at work, then all of it. */
function blockLines(
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

/** A sync that is at its end, as lines: a row per stream, and what all of them come to. */
function tableLines(sync: SyncProgress, columns: number): readonly string[] {
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

/** How often the block is drawn. */
const DRAW_MS = 250

export interface TerminalSettings {
  readonly screen: Screen
  readonly clock: ProgressClock
  /** Said of a sync that was stopped: what a later one continues from. */
  readonly kept: string
  /** False where the program says on stderr itself what failed. */
  readonly tellsFailures: boolean
}

/** Shows how far a sync is as a block that is drawn again and again, and at its end a table. */
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
