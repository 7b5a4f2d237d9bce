import { releaseBuffer } from '../protocol/buffer-pool.ts'
import type { Log } from '../protocol/connector.ts'
import { type Batch, DROP, UPSERT } from '../protocol/record-batch.ts'
import type { BookmarkSource, StreamOutput } from '../protocol/stream-output.ts'
import type { Commits } from './commits.ts'
import type { RisingKeys } from './rising-keys.ts'
import { LINE_PARTS } from './row-format.ts'
import type { StreamRows } from './stream-rows.ts'
import type { Load } from './warehouse.ts'

export interface WarehouseOutputSettings {
  readonly stream: string
  /** Name of the member that orders versions, for deletes. */
  readonly version: string | undefined
  readonly rows: StreamRows
  readonly keys: RisingKeys
  readonly commits: Commits
  readonly log: Log
}

/** A stream's end of a sync into a warehouse. */
export interface WarehouseOutput extends StreamOutput {
  /** What a commit has to bring of the stream, and how many records; nothing since the last call: undefined. */
  take(): (Load & { readonly count: number }) | undefined
}

/**
 * Turns what a sync says of one stream into rows and states. Records become rows at once, so that the
 * bookmark of any moment stands for all of them.
 */
export function createWarehouseOutput(settings: WarehouseOutputSettings): WarehouseOutput {
  const { stream, version, rows, keys, commits, log } = settings
  const counts = { records: 0, deletes: 0, isTracked: true }
  let source: BookmarkSource | undefined
  let completeGeneration: number | undefined
  let isChanged = false
  let onFirst = () => {}
  return {
    counts,
    take,
    started(bookmark) {
      source ??= bookmark
    },
    running: () => {},
    rateLimited: (until) =>
      log.info(`${stream}: the service asks to wait until ${until.toISOString()}`),
    waiting: () => {},
    records(batch, generation) {
      count(batch)
      keys.observe(batch, generation)
      onFirst()
      const lines = batch.lines(LINE_PARTS)
      const done = add(lines, generation)
      releaseBuffer(lines)
      return done
    },
    deletes(gone, carried, generation) {
      counts.deletes += gone.length
      keys.observe()
      const order =
        version === undefined || carried === null
          ? ''
          : `,${JSON.stringify(version)}:${JSON.stringify(carried)}`
      const end = `${order}${LINE_PARTS.deleteSuffix}`
      return add(Buffer.from(gone.map((key) => `{${key}${end}`).join('')), generation)
    },
    checkpoint() {
      isChanged = true
      return commits.wrote(0)
    },
    state() {
      isChanged = true
      return commits.now()
    },
    // Rows and states leave by commits, which take what there is: nobody reads the rest.
    flush: async () => {},
    generationComplete(generation) {
      isChanged = true
      completeGeneration = generation
    },
    complete() {
      isChanged = true
      return commits.wrote(0)
    },
    incomplete: () => {},
    untracked() {
      counts.isTracked = false
    },
    onRecord(listener) {
      onFirst = listener
    },
  }

  function add(lines: Uint8Array, generation: number): Promise<void> | undefined {
    isChanged = true
    return commits.wrote(rows.add(lines, generation))
  }

  function take(): ReturnType<WarehouseOutput['take']> {
    if (!isChanged) return undefined
    isChanged = false
    const state = source === undefined ? undefined : JSON.stringify(source())
    const load = {
      stream,
      ...rows.take(),
      columns: [...rows.columns],
      risesFrom: keys.take(),
      state,
      completeGeneration,
    }
    completeGeneration = undefined
    return load
  }

  function count({ count, ops }: Batch): void {
    for (let i = 0; i < count; i++) {
      if (ops[i] === UPSERT) counts.records++
      else if (ops[i] !== DROP) counts.deletes++
    }
  }
}
