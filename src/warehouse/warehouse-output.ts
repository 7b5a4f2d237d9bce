import { asConnectorError, type ConnectorError } from '../ground/errors.ts'
import type { StartedStream, StreamWriter } from '../protocol/stream-writer.ts'
import { type RecordBatch, releaseBuffer, UPSERT } from '../records/record-batch.ts'
import type { Load } from './load-rows.ts'
import { LINE_PARTS } from './row-encoder.ts'
import type { StreamRows } from './stream-rows.ts'
import { unwritable } from './unwritable.ts'

/**
 * The maximum number of new rows of a stream in a commit: two of DuckDB's row groups, which DuckDB writes while it
 * loads them. It would write less than a row group to its log first, and then to the file. The rest of a row group
 * would become a small one, and DuckDB would write its neighbours again to fill it.
 */
const COMMIT_ROWS = 2 * 122_880
/** The maximum size of the rows in a commit, plus at most a page or a part of one. */
const COMMIT_BYTES = 96 * 1024 * 1024
/** The factor for the size of rows that are too wide to fill a row group: DuckDB has them in memory and in its log. */
const WIDE = 2
/** The factor for rows that may replace others, and for pages of long records. */
const REPLACING = 6
/** From this size on, a page may have records so long that DuckDB has several copies of each in memory. */
const LONG_BYTES = 8 * 1024 * 1024
/** The time between commits: a kill loses no more than what was read in it. */
const COMMIT_MS = 5_000
/** The time until the first commit, so that a kill soon after the start loses little. */
const FIRST_COMMIT_MS = 1_000

/** Does work once after some milliseconds; returns a function that cancels it. */
type Later = (ms: number, work: () => void) => () => void

/** Decides when waiting rows are committed: one commit at a time, while further rows arrive. */
export interface Commits {
  /** Notes that rows of this size wait. Returns a promise if the next rows must wait for the end of a commit. */
  wrote(bytes: number): Promise<void> | undefined
  /** Commits the waiting rows without those that follow. Returns a promise if another commit has to end first. */
  cut(): Promise<void> | undefined
  /** Commits everything that waits now; resolves when that is done. */
  now(): Promise<void>
  /** Why the last commit failed; nothing is committed after it. */
  readonly failure: ConnectorError | undefined
  /** Begins no further timed commit; resolves when the running commit has ended. */
  stop(): Promise<void>
}

const LATER: Later = (ms, work) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/**
 * Creates the schedule of the commits. `commit` takes everything that waits, synchronously, and writes it to the
 * warehouse.
 */
export function createCommits(commit: () => Promise<void>, later = LATER): Commits {
  /** Set until it has ended, and, if another one follows, until that begins. */
  let running: Promise<void> | undefined
  /** The commit that begins when the running one has ended. */
  let next: Promise<void> | undefined
  let waiting = 0
  let failure: ConnectorError | undefined
  // Waiting rows are also committed while the service sends nothing.
  const commitSoon = () => {
    cancel = later(COMMIT_MS, commitSoon)
    void now().catch(() => {})
  }
  let cancel = later(FIRST_COMMIT_MS, commitSoon)
  return {
    get failure() {
      return failure
    },
    now,
    wrote(bytes) {
      if (failure !== undefined) return Promise.reject(failure)
      waiting += bytes
      if (waiting < COMMIT_BYTES) return undefined
      if (running !== undefined) return running
      return cut()
    },
    cut,
    async stop() {
      cancel()
      await (next ?? running)?.catch(() => {})
    },
  }

  function now(): Promise<void> {
    if (failure !== undefined) return Promise.reject(failure)
    if (running === undefined) return begin()
    next ??= running.then(begin)
    return next
  }

  function cut(): Promise<void> | undefined {
    const before = running
    void now().catch(() => {})
    return before
  }

  function begin(): Promise<void> {
    next = undefined
    waiting = 0
    running = commit().then(
      () => {
        // Whoever waited for this commit may ask for another before the next one has begun.
        if (next === undefined) running = undefined
      },
      (error) => {
        failure = unwritable(error)
        throw failure
      },
    )
    return running
  }
}

/**
 * Observes whether the keys of a stream rise from record to record, in generations that its table did not have when the
 * sync began. As long as they do, no record replaces another one of this sync.
 */
export interface RisingKeys {
  /** Whether all keys have risen so far. */
  readonly rise: boolean
  /** Whether the keys also rise in the next records, which are those of this batch. */
  goOn(batch: RecordBatch, generation: number): boolean
  /** The next rows are not in order. */
  end(): void
  /** Returns the highest key at the last call of `take`; undefined after `end`. */
  take(): number | undefined
}

/** `highestGeneration` is the highest generation in the table when the sync began. */
export function createRisingKeys(highestGeneration: number): RisingKeys {
  let rises = true
  let highest = -1
  let taken = -1
  return {
    get rise() {
      return rises
    },
    goOn(batch, generation) {
      if (!rises || generation <= highestGeneration) return false
      let last = highest
      for (let i = 0; i < batch.count; i++) {
        const key = batch.keys[i] as number
        // NaN if the key is not an integer.
        if (batch.ops[i] !== UPSERT || !(key > last)) return false
        last = key
      }
      highest = last
      return true
    },
    end() {
      rises = false
    },
    take() {
      const before = taken
      taken = highest
      return rises ? before : undefined
    },
  }
}

export interface WarehouseOutputSettings {
  readonly stream: string
  readonly rows: StreamRows
  readonly keys: RisingKeys
  readonly commits: Commits
  readonly now: () => Date
}

/** The output of one stream of a sync into a warehouse. */
export interface WarehouseOutput extends StreamWriter {
  /** Returns what to commit and the number of records; undefined if there was nothing since the last call. */
  take(): (Load & { readonly count: number }) | undefined
  /** What was taken could not be committed: the next call of the output throws this error. */
  fail(error: ConnectorError): void
}

/** What the next commit has to store beside the rows. */
interface Uncommitted {
  /** Whether there is anything to commit, rows included. */
  isChanged: boolean
  /** The number of new rows. */
  added: number
  completeGeneration: Load['completeGeneration']
  complete: Load['complete']
  isKept: boolean
  left: Load['left']
}

function nothing(): Uncommitted {
  return {
    isChanged: false,
    added: 0,
    completeGeneration: undefined,
    complete: undefined,
    isKept: false,
    left: undefined,
  }
}

/**
 * Creates the output of a stream, which converts records to rows and collects states for the commits. Records become
 * rows at once, so the state always covers all of them.
 */
export function createWarehouseOutput(settings: WarehouseOutputSettings): WarehouseOutput {
  const { stream, rows, keys, commits, now } = settings
  let source: StartedStream | undefined
  let highestGeneration = -1
  let next = nothing()
  let failure: ConnectorError | undefined
  return {
    take,
    fail(error) {
      failure = error
    },
    started(started) {
      source = started
    },
    records(batch, { generation }) {
      const isFull = next.added > 0 && next.added + batch.count > COMMIT_ROWS
      const ended = isFull ? commits.cut() : undefined
      if (ended === undefined) return addBatch(batch, generation)
      return ended.then(() => addBatch(batch, generation))
    },
    deletes(gone, { generation }) {
      const lines = gone.map((key) => `{${key}${LINE_PARTS.deleteSuffix}`)
      return afterRising(() => add(Buffer.from(lines.join('')), generation, gone.length))
    },
    checkpoint(mustWrite) {
      next.isChanged = true
      return mustWrite ? commits.now().then(() => wrote(0)) : wrote(0)
    },
    note(event) {
      if (event.type === 'generation complete') next.completeGeneration = event.generation
      else if (event.type === 'withheld') next.isKept = true
      else if (event.type === 'left') next.left = { field: event.field, day: event.day }
      else return
      next.isChanged = true
    },
    ended(isComplete) {
      if (!isComplete) return undefined
      next.isChanged = true
      next.complete = now()
      return wrote(0)
    },
    // Commits take rows and states by themselves, so there is nothing to flush.
    flush: async () => {},
  }

  function addBatch(batch: RecordBatch, generation: number): Promise<void> | undefined {
    const isRising = keys.goOn(batch, generation)
    if (isRising) next.added += batch.count
    return isRising ? addLines() : afterRising(addLines)

    function addLines(): Promise<void> | undefined {
      const lines = batch.lines(LINE_PARTS)
      const done = add(lines, generation, batch.count)
      releaseBuffer(lines)
      return done
    }
  }

  /** Commits the rows with rising keys separately first, because only they are known to be new. */
  function afterRising(go: () => Promise<void> | undefined): Promise<void> | undefined {
    const isCommitted = !keys.rise || highestGeneration < 0
    const end = () => {
      keys.end()
      return go()
    }
    return isCommitted ? end() : commits.now().then(end)
  }

  function add(lines: Uint8Array, generation: number, count: number): Promise<void> | undefined {
    if (failure !== undefined) return Promise.reject(failure)
    next.isChanged = true
    highestGeneration = Math.max(highestGeneration, generation)
    const bytes = addRows(lines, generation)
    return commits.wrote(bytes * weightOf(bytes, count, keys.rise))
  }

  /** A file that could not be written may end within a row, so nothing more of the stream is committed. */
  function addRows(lines: Uint8Array, generation: number): number {
    try {
      return rows.add(lines, generation)
    } catch (error) {
      failure = asConnectorError(error)
      throw failure
    }
  }

  function wrote(bytes: number): Promise<void> | undefined {
    return failure === undefined ? commits.wrote(bytes) : Promise.reject(failure)
  }

  function take(): ReturnType<WarehouseOutput['take']> {
    const { isChanged, completeGeneration, complete, isKept, left } = next
    if (!isChanged || failure !== undefined) return undefined
    next = nothing()
    const state = source?.state()
    return {
      stream,
      ...rows.take(),
      columns: [...rows.columns],
      risesFrom: keys.take(),
      generation: highestGeneration,
      state: state && JSON.stringify(state),
      completeGeneration,
      complete,
      isKept,
      left,
    }
  }
}

/** The factor for the size of these rows; `rise` says whether they are known to be new. */
function weightOf(bytes: number, count: number, rise: boolean): number {
  if (!rise || bytes >= LONG_BYTES) return REPLACING
  return bytes * COMMIT_ROWS > count * COMMIT_BYTES ? WIDE : 1
}
