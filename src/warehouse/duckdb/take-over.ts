import { basename } from 'node:path'
import type { Log } from '../../protocol/connector.ts'
import { accountTables, FORMAT, FORMAT_BEFORE } from '../account.ts'
import { type Column, KNOWN_FROM, KNOWN_UNTIL } from '../column.ts'
import { FOREVER, historySpan, keepHistory } from '../history.ts'
import type { Dialect, Landing, OwnTables } from '../landing.ts'
import { closedPlace, createTable, quoted } from '../sql.ts'
import { storedColumns } from '../tables.ts'

/** The column that said which complete read had written a row, in files of the form before, */
export const GENERATION_BEFORE = '_generation'
/** the one that marked deleted rows, where they were kept, */
export const DELETED_BEFORE = '_deleted_at'
/** and what the names of their next tables in `main` begin with, as a literal. */
export const NEXT_BEFORE = "'_protime_next_'"

/**
 * Gives a file of the form before the present form, if it is one. Its rows stay, with the moment of this; because nobody
 * knows any more which read wrote them, each stream is read from the beginning.
 */
export async function takeOver(landing: Landing, path: string, log: Log): Promise<void> {
  const hasOwn = await landing.ownTables()
  if (!hasOwn('owner')) return
  const [[format] = []] = await landing.query('SELECT format FROM _protime.owner')
  if (Number(format) !== FORMAT_BEFORE) return
  log.info(
    `${basename(path)} was written by an earlier version of this program: its tables are adapted, and this sync reads all streams from the beginning.`,
  )
  const present = await landing.present()
  const stored = await storedBefore(landing, hasOwn)
  const marked = [...stored].filter(([stream]) => present.columnsOf(stream)?.has(DELETED_BEFORE))
  // DuckDB does not allow to delete rows in the transaction of an ALTER. After a kill, this is done again.
  const closed = marked.flatMap(([stream, columns]) => closeDeleted(landing.sql, stream, columns))
  await landing.atomically(() => landing.run(closed.join(';\n')))
  await landing.atomically(async () => {
    const hasStates = hasOwn('states')
    const statements = [
      ...(hasStates
        ? ['CREATE OR REPLACE TEMP TABLE _protime_states AS FROM _protime.states']
        : []),
      'DROP TABLE IF EXISTS _protime.states',
      'DROP TABLE IF EXISTS _protime.described',
      ...accountTables(landing.sql),
      ...(hasStates
        ? ['INSERT INTO _protime.states SELECT stream, state, true FROM temp._protime_states']
        : []),
      'ALTER TABLE _protime.owner ADD COLUMN IF NOT EXISTS history VARCHAR',
      'ALTER TABLE _protime.owner ADD COLUMN IF NOT EXISTS moment TIMESTAMPTZ',
      'ALTER TABLE _protime.syncs ADD COLUMN IF NOT EXISTS number BIGINT',
      ...['generation', 'next_generation', 'next_rows', 'longest'].map(
        (column) => `ALTER TABLE _protime.streams ADD COLUMN IF NOT EXISTS ${column} BIGINT`,
      ),
      'ALTER TABLE _protime.streams ADD COLUMN IF NOT EXISTS known_since TIMESTAMPTZ',
      'ALTER TABLE _protime.streams ADD COLUMN IF NOT EXISTS failure_id VARCHAR',
      `UPDATE _protime.owner SET format = ${FORMAT}, moment = now()`,
      'UPDATE _protime.syncs SET number = rowid + 1 WHERE number IS NULL',
      'UPDATE _protime.streams SET generation = 0',
    ]
    if (marked.length > 0) statements.push(keepHistory(landing.sql, FOREVER))
    for (const stream of stored.keys()) {
      statements.push(`DROP TABLE IF EXISTS main.${quoted(`_protime_next_${stream}`)}`)
      const columns = present.columnsOf(stream)
      if (columns === undefined) continue
      const alter = `ALTER TABLE main.${quoted(stream)}`
      const superfluous = [GENERATION_BEFORE, DELETED_BEFORE].filter((name) => columns.has(name))
      if (await landing.canDropColumns(stream))
        statements.push(...superfluous.map((name) => `${alter} DROP COLUMN ${name}`))
      // A default fills the column without an UPDATE, which DuckDB does not allow in the transaction of an ALTER.
      if (!columns.has(KNOWN_FROM))
        statements.push(
          `${alter} ADD COLUMN ${KNOWN_FROM} TIMESTAMPTZ DEFAULT now()`,
          `${alter} ALTER COLUMN ${KNOWN_FROM} DROP DEFAULT`,
        )
    }
    await landing.run(statements.join(';\n'))
  })
}

/** Deleted rows that were kept become closed versions. Nobody knows since when they had been as they were in the end. */
function closeDeleted(sql: Dialect, stream: string, columns: readonly Column[]): string[] {
  const place = closedPlace(sql, stream)
  const names = columns.map(({ name }) => quoted(name)).join(', ')
  const from = `FROM main.${quoted(stream)} AS source WHERE source.${DELETED_BEFORE} IS NOT NULL`
  return [
    createTable(sql, { place, columns }, 'TABLE', [KNOWN_FROM, KNOWN_UNTIL]),
    `INSERT INTO ${place} (${names}, ${KNOWN_FROM}, ${KNOWN_UNTIL})
      SELECT ${names}, source.${DELETED_BEFORE}, source.${DELETED_BEFORE} ${from}`,
    `DELETE ${from}`,
  ]
}

/** How long closed versions are kept, also for a file of the form before. */
export async function spanBefore(landing: Landing): Promise<string | undefined> {
  const present = await landing.present()
  const hasOwn = await landing.ownTables()
  const streams = [...(await storedBefore(landing, hasOwn)).keys()]
  const isMarked = streams.some((stream) => present.columnsOf(stream)?.has(DELETED_BEFORE))
  if (isMarked) return FOREVER
  return hasOwn('fields') ? historySpan(landing) : undefined
}

async function storedBefore(
  landing: Landing,
  hasOwn: OwnTables,
): Promise<ReadonlyMap<string, readonly Column[]>> {
  return hasOwn('columns') ? storedColumns(landing) : new Map()
}
