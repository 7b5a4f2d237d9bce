import { type Column, GENERATION } from './column.ts'
import type { Landing, RowFile } from './landing.ts'
import {
  type AddedRows,
  addedAbove,
  BATCH_ROWS,
  createTable,
  deduplicate,
  IS_PLAIN,
  madeByOthers,
  merge,
  moveFromNext,
  nextOf,
  quoted,
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
}

/** The progress of the rows of a stream. */
export interface Progress {
  /** The highest generation in its table when the sync began, or after the last complete read; -1 without rows. */
  readonly highest: number
  /** Whether rows of a later generation wait in the next table. */
  readonly hasNext: boolean
}

/** Whether a load ends a complete read, or the sync of the stream. */
export function isOver({ completeGeneration, complete }: Load): boolean {
  return completeGeneration !== undefined || complete !== undefined
}

/** The parts of a load by the generations of its rows; the last one has its state and its end. */
export function partsOf(load: Load): Load[] {
  const generations = [...new Set(load.files.map(({ generation }) => generation))]
  const parts = generations.map((generation) => ({
    ...withoutEnd(load),
    files: load.files.filter((file) => file.generation === generation),
    generation,
    risesFrom: load.risesFrom,
  }))
  return [...parts.slice(0, -1), { ...load, files: parts.at(-1)?.files ?? [] }]
}

/** The rows of a load without its state and the end of its read. */
export function withoutEnd({ stream, files, columns, generation }: Load): Load {
  const end = { state: null, completeGeneration: undefined, complete: undefined }
  return { stream, files, columns, generation, risesFrom: undefined, ...end }
}

/**
 * Writes the rows of a load to their table. If the table has rows of an earlier complete read, the rows of the next
 * read wait in its next table, which replaces the first one at the end. Other processes that open the file in between
 * see one complete read. Returns where the added rows are, if there are any, and whether the table was replaced.
 */
export async function loadRows(
  landing: Landing,
  table: Table,
  load: Load,
  { highest, hasNext }: Progress,
): Promise<Progress & { readonly added: AddedRows | undefined; readonly isReplaced: boolean }> {
  const { files, risesFrom, generation, completeGeneration } = load
  const goesNext = hasNext || (highest >= 0 && generation > highest && !isOver(load))
  if (goesNext && !hasNext) await landing.run(createTable(nextOf(table)))
  const into = goesNext ? nextOf(table) : table
  const added = files.length === 0 ? undefined : await addTo()
  const isReplaced = goesNext && isOver(load) && (await end())
  return {
    highest: isOver(load) ? Math.max(highest, generation) : highest,
    hasNext: goesNext && !isOver(load),
    added,
    isReplaced,
  }

  async function addTo(): Promise<AddedRows> {
    if (risesFrom !== undefined && (goesNext || highest < 0)) {
      const constants = new Map([[GENERATION, String(generation)]])
      await landing.append(`main.${quoted(into.name)}`, files, table.columns, constants)
      return addedAbove(isOver(load) ? table : into, risesFrom)
    }
    await landing.stage('_protime_batch', files, table.columns)
    await runAll(deduplicate(table))
    const [[isPlain] = []] = await landing.query(IS_PLAIN)
    await runAll(merge(into, generation, isPlain === 'true'))
    if (goesNext && isPlain !== 'true') await landing.run(removeGone(table))
    return BATCH_ROWS
  }

  /** Moves the rows of the next table, or renames it; returns whether the table was replaced. */
  async function end(): Promise<boolean> {
    const keepsOlder = completeGeneration === undefined || table.keepsDeleted
    const [[others] = []] = await landing.query(madeByOthers(table))
    const isReplaced = !keepsOlder && others === '0'
    await runAll(isReplaced ? replaceByNext(table) : moveFromNext(table))
    return isReplaced
  }

  async function runAll(statements: readonly string[]): Promise<void> {
    for (const statement of statements) await landing.run(statement)
  }
}
