import { asConnectorError, type ConnectorError } from '../ground/errors.ts'
import type { Log } from '../protocol/connector.ts'
import type { StateSource, StreamOutput } from '../protocol/stream-output.ts'
import { type RecordBatch, releaseBuffer, SKIP, UPSERT } from '../records/record-batch.ts'
import type { Load } from './bring-rows.ts'
import { LINE_PARTS } from './row-encoder.ts'
import { type StreamRows, unwritable } from './stream-rows.ts'

/**
 * So many new rows of a stream are committed together at most: two of DuckDB's row groups. DuckDB writes them while they
 * come. Less than one would go into its log first, and then into the file; what is left of one would be a small group, and
 * DuckDB would write its neighbours once more to fill it.
 */
const COMMIT_ROWS = 2 * 122_880
/** So many bytes of rows are committed together at most, a page or a part of one more. */
const COMMIT_BYTES = 96 * 1024 * 1024
/** Rows so wide that they fill no row group before are in memory, and in the log: each of their bytes counts for so many. */
const WIDE = 2
/** So do those of rows that may take the place of others, */
const REPLACING = 6
/** and of records that are this long: DuckDB has each several times in memory. */
const LONG_BYTES = 8 * 1024 * 1024
/** A kill costs no more than what was read in this time, */
const COMMIT_MS = 5_000
/** and one soon after the start does not cost the start. */
const FIRST_COMMIT_MS = 1_000

/** Does work once, after so many milliseconds; answers with how to call it off. */
type Later = (ms: number, work: () => void) => () => void

/** When the rows that wait are committed: one commit at a time, while the next rows come. */
export interface Commits {
  /** Rows of so many bytes wait. A promise when there is no room for more before a commit has ended. */
  wrote(bytes: number): Promise<void> | undefined
  /** What comes next is not committed with what waits now. A promise when another commit has to end first. */
  cut(): Promise<void> | undefined
  /** Ends when everything that waits now is committed. */
  now(): Promise<void>
  /** Why the last commit failed; nothing is committed after it. */
  readonly failure: ConnectorError | undefined
  /** No commit begins any more; ends with the one that runs. */
  stop(): Promise<void>
}

const LATER: Later = (ms, work) => {
  const timer = setTimeout(work, ms)
  return () => clearTimeout(timer)
}

/** `commit` takes everything that waits, at once, and brings it into the warehouse. */
export function createCommits(commit: () => Promise<void>, later = LATER): Commits {
  let running: Promise<void> | undefined
  /** A commit that begins when the present one has ended. */
  let next: Promise<void> | undefined
  let waiting = 0
  let failure: ConnectorError | undefined
  // What waits is committed also while the service says nothing.
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
      await running?.catch(() => {})
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
        running = undefined
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
 * Whether the keys of a stream rise from record to record, in generations that its table did not have when
 * the sync began. As long as they do, no record takes the place of another one of this sync.
 */
export interface RisingKeys {
  /** Whether they have risen so far. */
  readonly rise: boolean
  /** Whether they do so in these records, which are all that come next. */
  goOn(batch: RecordBatch, generation: number): boolean
  /** Something else comes. */
  end(): void
  /** The highest key before the last call; undefined once they have ended. */
  take(): number | undefined
}

/** `highestGeneration` is that of the table when the sync began. */
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
        // Not a number where the key is no integer.
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
  readonly log: Log
  readonly now: () => Date
}

/** A stream's end of a sync into a warehouse. */
export interface WarehouseOutput extends StreamOutput {
  /** What a commit has to bring of the stream, and how many records; nothing since the last call: undefined. */
  take(): (Load & { readonly count: number }) | undefined
  /** What was taken could not be committed: the stream ends where it is said the next time. */
  fail(error: ConnectorError): void
}

/**
 * Turns what a sync says of one stream into rows and states. Records become rows at once, so that the
 * state of any moment stands for all of them.
 */
export function createWarehouseOutput(settings: WarehouseOutputSettings): WarehouseOutput {
  const { stream, rows, keys, commits, log, now } = settings
  const counts = { records: 0, deletes: 0, isTracked: true }
  let source: StateSource | undefined
  let highestGeneration = -1
  let completeGeneration: number | undefined
  let completeAt: Date | undefined
  let isChanged = false
  /** New rows that wait for the next commit. */
  let added = 0
  let failure: ConnectorError | undefined
  let onFirst = () => {}
  return {
    counts,
    take,
    fail(error) {
      failure = error
    },
    started(state) {
      source ??= state
    },
    running: () => {},
    rateLimited: (until) =>
      log.info(`${stream}: the service asks to wait until ${until.toISOString()}`),
    waiting: () => {},
    records(batch, { generation }) {
      count(batch)
      onFirst()
      const addAll = () => {
        const lines = batch.lines(LINE_PARTS)
        const done = add(lines, generation, batch.count)
        releaseBuffer(lines)
        return done
      }
      const go = () => {
        if (!keys.goOn(batch, generation)) return afterRising(addAll)
        added += batch.count
        return addAll()
      }
      const isFull = added > 0 && added + batch.count > COMMIT_ROWS
      const ended = isFull ? commits.cut() : undefined
      return ended === undefined ? go() : ended.then(go)
    },
    deletes(gone, { generation }) {
      counts.deletes += gone.length
      const lines = gone.map((key) => `{${key}${LINE_PARTS.deleteSuffix}`)
      return afterRising(() => add(Buffer.from(lines.join('')), generation, gone.length))
    },
    checkpoint() {
      isChanged = true
      return wrote(0)
    },
    async state() {
      isChanged = true
      await commits.now()
      await wrote(0)
    },
    // Rows and states leave by commits, which take what there is: nobody reads the rest.
    flush: async () => {},
    generationComplete(generation) {
      isChanged = true
      completeGeneration = generation
    },
    complete() {
      isChanged = true
      completeAt = now()
      return wrote(0)
    },
    incomplete: () => {},
    untracked() {
      counts.isTracked = false
    },
    onRecord(listener) {
      onFirst = listener
    },
  }

  /** What has risen is committed by itself first: only its rows are known to be new. */
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
    isChanged = true
    highestGeneration = Math.max(highestGeneration, generation)
    const bytes = addRows(lines, generation)
    return commits.wrote(bytes * weightOf(bytes, count))
  }

  function weightOf(bytes: number, count: number): number {
    if (!keys.rise || bytes >= LONG_BYTES) return REPLACING
    return bytes * COMMIT_ROWS > count * COMMIT_BYTES ? WIDE : 1
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
    if (!isChanged || failure !== undefined) return undefined
    isChanged = false
    added = 0
    const state = source === undefined ? undefined : JSON.stringify(source())
    const load = {
      stream,
      ...rows.take(),
      columns: [...rows.columns],
      risesFrom: keys.take(),
      generation: highestGeneration,
      state,
      completeGeneration,
      complete: completeAt,
    }
    completeGeneration = undefined
    completeAt = undefined
    return load
  }

  function count({ count, ops }: RecordBatch): void {
    for (let i = 0; i < count; i++) {
      if (ops[i] === UPSERT) counts.records++
      else if (ops[i] !== SKIP) counts.deletes++
    }
  }
}
