import type { DuckDBConnection } from '@duckdb/node-api'
import type { Column } from './column.ts'
import { run, texts } from './duckdb.ts'
import type { RowFile } from './row-file.ts'
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
  readonly isKept?: boolean
  /** Set if rows with a date before this day in this field leave the file. */
  readonly left?: { readonly field: string; readonly day: string } | undefined
}

/** The progress of the rows of a stream. */
export interface Progress {
  /** The highest generation in its table when the sync began, or after the last complete read; -1 without rows. */
  readonly highest: number
  /** Whether rows of a later generation wait in the next table. */
  readonly hasNext: boolean
}

/** Whether a load ends a complete read, or the sync of the stream. */
export function isOver({ completeGeneration, complete, isKept = false }: Load): boolean {
  return completeGeneration !== undefined || complete !== undefined || isKept
}

/**
 * Writes the rows of a load to their table. If the table has rows of an earlier complete read, the rows of the next
 * read wait in its next table, which replaces the first one at the end. Other processes that open the file in between
 * see one complete read. Returns where the added rows are, if there are any, and whether the table was replaced.
 */
export async function loadRows(
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

  /** Moves the rows of the next table, or renames it; returns whether the table was replaced. */
  async function end(): Promise<boolean> {
    const keepsOlder = completeGeneration === undefined || table.keepsDeleted
    const [[others] = []] = await texts(connection, madeByOthers(table))
    const isReplaced = !keepsOlder && others === '0'
    await run(connection, isReplaced ? replaceByNext(table) : moveFromNext(table))
    return isReplaced
  }
}
