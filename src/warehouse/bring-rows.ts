import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column } from './column.ts'
import { run, texts } from './duckdb.ts'
import type { RowFile } from './row-encoder.ts'
import {
  type AddedRows,
  addedAbove,
  append,
  BATCH_ROWS,
  createTable,
  deduplicate,
  IS_PLAIN,
  madeByOthers,
  merge,
  moveFromNext,
  nextOf,
  readFiles,
  removeGone,
  replaceByNext,
  type Table,
} from './sql.ts'

/** What a commit brings of one stream. */
export interface Load {
  readonly stream: string
  readonly files: readonly RowFile[]
  /** The columns of the rows that come after the files. */
  readonly columns: readonly Column[]
  /**
   * Set when each row has a key of its own, an integer above this one, that no row of this sync had before;
   * and when all rows of this sync are of later generations than those before it.
   */
  readonly risesFrom: number | undefined
  /** The highest generation of the rows so far. */
  readonly generation: number
  /** The state that stands for everything up to here, as JSON; undefined while there is none. */
  readonly state: string | undefined
  /** Set when rows of older generations are gone. */
  readonly completeGeneration: number | undefined
  /** When the stream was read to its end, if it was. */
  readonly complete: Date | undefined
}

/** How far the rows of a stream are. */
export interface Progress {
  /** The highest generation in its table when the sync began, or after a complete reading since; -1 without rows. */
  readonly highest: number
  /** Whether rows of a later one wait in a table of their own. */
  readonly hasNext: boolean
}

/** Whether everything of a reading, or of a sync, has been read. */
export function isOver({ completeGeneration, complete }: Load): boolean {
  return completeGeneration !== undefined || complete !== undefined
}

/**
 * Brings the rows of a load into their table. Where that has an earlier complete reading, the rows of the next one wait in
 * a table of their own until it is over, which then takes the place of the first: whoever opens the file in between sees
 * one of the two. Answers with where the rows are found, if any have come; `isReplaced` when the table is another one.
 */
export async function bringRows(
  connection: DuckDBConnection,
  table: Table,
  load: Load,
  { highest, hasNext }: Progress,
): Promise<Progress & { readonly added: AddedRows | undefined; readonly isReplaced: boolean }> {
  const { files, risesFrom, generation, completeGeneration } = load
  const goesNext = hasNext || (highest >= 0 && generation > highest && !isOver(load))
  if (goesNext && !hasNext) await run(connection, [createTable(nextOf(table))])
  const added = files.length === 0 ? undefined : await addTo(goesNext ? nextOf(table) : table)
  const isReplaced = goesNext && isOver(load) && (await end())
  return {
    highest: isOver(load) ? Math.max(highest, generation) : highest,
    hasNext: goesNext && !isOver(load),
    added,
    isReplaced,
  }

  async function addTo(into: Table): Promise<AddedRows> {
    if (risesFrom !== undefined && (goesNext || highest < 0)) {
      await run(connection, append(into, files))
      return addedAbove(isOver(load) ? table : into, risesFrom)
    }
    await run(connection, [...readFiles(files, table.columns), ...deduplicate(table)])
    const [[isPlain] = []] = await texts(connection, IS_PLAIN)
    await run(connection, merge(into, isPlain === 'true'))
    if (goesNext && isPlain !== 'true') await run(connection, [removeGone(table)])
    return BATCH_ROWS
  }

  /** Answers whether the table is another one. */
  async function end(): Promise<boolean> {
    const keepsOlder = completeGeneration === undefined || table.keepsDeleted
    const [[others] = []] = await texts(connection, madeByOthers(table))
    const isReplaced = !keepsOlder && others === '0'
    await run(connection, isReplaced ? replaceByNext(table) : moveFromNext(table))
    return isReplaced
  }
}
