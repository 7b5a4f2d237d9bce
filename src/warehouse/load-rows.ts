import { ConnectorError } from '../ground/errors.ts'
import { type Column, KNOWN_FROM } from './column.ts'
import type { Landing, RowFile } from './landing.ts'
import {
  type AddedRows,
  addedAbove,
  countIn,
  type DaysLeft,
  goneOf,
  noRowsOf,
  readBatch,
  rowsOf,
  settle,
} from './settle.ts'
import { createTable, nextOf, type Table } from './sql.ts'

/** The part of a commit that belongs to one stream. */
export interface Load {
  readonly stream: string
  readonly files: readonly RowFile[]
  /** The columns of the rows that follow the files. */
  readonly columns: readonly Column[]
  /**
   * Set if each row has an integer key above this one that no other row of this sync has, and if all generations of
   * this sync are later than those before it.
   */
  readonly risesFrom: number | undefined
  /** The highest generation of the rows so far. */
  readonly generation: number
  /**
   * The state that covers all rows so far, as JSON; undefined if there is none yet. Null if no state covers the rows of
   * this load: then the stored one is removed.
   */
  readonly state: string | null | undefined
  /** Set if this generation is complete, so that rows of older generations no longer exist. */
  readonly completeGeneration: number | undefined
  /** The time when the stream was read to its end; undefined if it was not. */
  readonly complete: Date | undefined
  /** Set if this generation is complete, and rows of older ones stay. */
  readonly isKept?: boolean | undefined
  /** Set if rows leave the warehouse because of their dates. */
  readonly left?: DaysLeft | undefined
}

/** The progress of the rows of a stream. */
export interface Progress {
  /** The generation of the rows in its table; -1 if it has none. */
  readonly generation: number
  /** How many rows live in it. */
  readonly rows: number
  /** The rows that wait in the next table; undefined if there is none. */
  readonly next: { readonly generation: number; readonly rows: number } | undefined
  /** The length of the longest row that was ever written for the stream, in bytes. */
  readonly longest: number
  /** Whether the table was empty when the sync began, and no read has ended since. */
  readonly isFilling: boolean
}

/** The parts of a load by the generations of its rows; the last one has its state and the end of the stream. */
export function partsOf(load: Load): Load[] {
  const { files, completeGeneration, generation } = load
  const generations = new Set(files.map((file) => file.generation))
  if (completeGeneration !== undefined) generations.add(completeGeneration)
  if (generations.size === 0) generations.add(generation)
  const parts = [...generations]
    .sort((a, b) => a - b)
    .map((one) => ({
      ...load,
      files: files.filter((file) => file.generation === one),
      generation: one,
      completeGeneration: one === completeGeneration ? one : undefined,
      complete: undefined,
      isKept: false,
    }))
  const { complete, isKept } = load
  return [...parts.slice(0, -1), { ...(parts.at(-1) as Load), complete, isKept }]
}

/**
 * Writes the rows of one generation. If the table has rows of an earlier one, they wait in its next table until the read
 * is over. Other processes that open the file in between see one complete read. Returns where the added rows are, if
 * there are any.
 */
export async function loadRows(
  landing: Landing,
  table: Table,
  { files, risesFrom, generation: given, completeGeneration, complete, isKept = false }: Load,
  progress: Progress,
  moment: string,
): Promise<Progress & { readonly added: AddedRows | undefined }> {
  const { sql } = landing
  const isWhole = completeGeneration !== undefined
  const isOver = isWhole || complete !== undefined || isKept
  const waiting = nextOf(sql, table)
  const longest = Math.max(progress.longest, ...files.map((file) => file.longest))
  let { rows, next } = progress
  const isNothing = files.length === 0 && !isWhole
  const generation = isNothing ? (next?.generation ?? progress.generation) : given
  // Another one is of a later read, although a clock that was set back may have given it a lower number.
  if (progress.generation < 0 || generation === progress.generation) {
    const done = await add(table, rows, progress.isFilling)
    const has = files.length === 0 ? progress.generation : Math.max(progress.generation, generation)
    const isFilling = progress.isFilling && !isOver
    return { generation: has, rows: done.rows, next, longest, isFilling, added: done.added }
  }
  if (next !== undefined && next.generation !== generation) {
    await landing.run(`DROP TABLE ${waiting.place}`)
    next = undefined
  }
  if (next === undefined && isOver) {
    const batch = files.length === 0 ? undefined : await readBatch(landing, table, files)
    const incoming = batch?.incoming ?? noRowsOf(table)
    rows = await settle(landing, table, incoming, { moment, isRead: true, isWhole, rows })
    return { generation, rows, next, longest, isFilling: false, added: batch?.added }
  }
  if (next === undefined) await landing.run(createTable(sql, waiting, sql.waiting))
  const done = await add(waiting, next?.rows ?? 0, true)
  // A row whose deletion was reported is gone, whether the read is complete some day or not.
  if (done.gone !== undefined)
    rows = await settle(landing, table, done.gone, { moment, isRead: false, isWhole: false, rows })
  if (!isOver) {
    next = { generation, rows: done.rows }
    return { ...progress, rows, next, longest, added: done.added }
  }
  await assertAllWait(landing, table, done.rows)
  rows = await settle(landing, table, rowsOf(waiting), { moment, isRead: true, isWhole, rows })
  await landing.run(`DROP TABLE ${waiting.place}`)
  return { generation, rows, next: undefined, longest, isFilling: false, added: done.added }

  async function add(into: Table, before: number, isNew: boolean) {
    if (files.length === 0) return { rows: before, added: undefined, gone: undefined }
    if (isNew && risesFrom !== undefined) {
      await landing.append(into.place, files, into.columns, new Map([[KNOWN_FROM, moment]]))
      const count = files.reduce((sum, file) => sum + file.count, 0)
      const added = addedAbove(sql, isOver ? table : into, risesFrom)
      return { rows: before + count, added, gone: undefined }
    }
    const { incoming, added, hasDeletes } = await readBatch(landing, into, files)
    const settling = { moment, isRead: false, isWhole: false, rows: before }
    const rows = await settle(landing, into, incoming, settling)
    return { rows, added, gone: hasDeletes ? goneOf(incoming) : undefined }
  }
}

/**
 * Throws unless so many rows are in the next table of a table: a server that crashes empties it, and a sync may go on when that
 * is back.
 */
export async function assertAllWait(landing: Landing, table: Table, rows: number): Promise<void> {
  if ((await countIn(landing, nextOf(landing.sql, table).place)) === rows) return
  throw new ConnectorError(
    'transient',
    'warehouse-not-reached',
    `The server of the warehouse was not reached for a while, and has lost rows of ${table.name} that waited for the end of their read, as in a crash. The next sync reads the stream from the beginning.`,
  )
}
