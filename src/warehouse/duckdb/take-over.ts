import { basename } from 'node:path'
import type { Log } from '../../protocol/connector.ts'
import { accountTables, FORMAT, FORMAT_BEFORE } from '../account.ts'
import { DELETED_AT, KNOWN_FROM } from '../column.ts'
import type { Landing } from '../landing.ts'
import { quoted } from '../sql.ts'
import { knownTables } from '../tables.ts'

/** The column that said which complete read had written a row, in files of the form before, */
export const GENERATION_BEFORE = '_generation'
/** and what the names of their next tables in `main` begin with, as a literal. */
export const NEXT_BEFORE = "'_protime_next_'"

/**
 * Gives a file of the form before the present form, if it is one. Its rows stay, with the moment of this; because nobody
 * knows any more which read wrote them, each stream is read from the beginning.
 */
export async function takeOver(landing: Landing, path: string, log: Log): Promise<void> {
  const present = await landing.present()
  if (!present.hasOwn('owner')) return
  const [[format] = []] = await landing.query('SELECT format FROM _protime.owner')
  if (Number(format) !== FORMAT_BEFORE) return
  log.info(
    `${basename(path)} was written by an earlier version of this program: its tables are adapted, and this sync reads all streams from the beginning.`,
  )
  const marked = await markedTables(landing)
  await landing.atomically(async () => {
    const hasStates = present.hasOwn('states')
    const statements = [
      ...(hasStates
        ? ['CREATE OR REPLACE TEMP TABLE _protime_states AS FROM _protime.states']
        : []),
      'DROP TABLE IF EXISTS _protime.states',
      'DROP TABLE IF EXISTS _protime.described',
      ...knownTables(landing.sql),
      ...accountTables(landing.sql),
      ...(hasStates
        ? ['INSERT INTO _protime.states SELECT stream, state, true FROM temp._protime_states']
        : []),
      'ALTER TABLE _protime.owner ADD COLUMN IF NOT EXISTS keeps_deleted BOOLEAN',
      'ALTER TABLE _protime.owner ADD COLUMN IF NOT EXISTS moment TIMESTAMPTZ',
      'ALTER TABLE _protime.syncs ADD COLUMN IF NOT EXISTS number BIGINT',
      ...['generation', 'next_generation', 'next_rows', 'longest'].map(
        (column) => `ALTER TABLE _protime.streams ADD COLUMN IF NOT EXISTS ${column} BIGINT`,
      ),
      `UPDATE _protime.owner SET format = ${FORMAT}, moment = now(),
        keeps_deleted = coalesce(keeps_deleted, ${marked.length > 0})`,
      'ALTER TABLE _protime.streams ADD COLUMN IF NOT EXISTS failure_id VARCHAR',
      'UPDATE _protime.syncs SET number = rowid + 1 WHERE number IS NULL',
      'UPDATE _protime.streams SET generation = 0',
    ]
    for (const stream of await streamsIn(landing)) {
      statements.push(`DROP TABLE IF EXISTS main.${quoted(`_protime_next_${stream}`)}`)
      const columns = present.columnsOf(stream)
      if (columns === undefined) continue
      const alter = `ALTER TABLE main.${quoted(stream)}`
      if (columns.has(GENERATION_BEFORE) && (await landing.canDropColumns(stream)))
        statements.push(`${alter} DROP COLUMN ${GENERATION_BEFORE}`)
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

/** The tables of streams that have a column for deleted rows. */
export async function markedTables(landing: Landing): Promise<string[]> {
  const present = await landing.present()
  const streams = await streamsIn(landing)
  return streams.filter((stream) => present.columnsOf(stream)?.has(DELETED_AT) === true)
}

async function streamsIn(landing: Landing): Promise<string[]> {
  if (!(await landing.present()).hasOwn('columns')) return []
  const rows = await landing.query('SELECT DISTINCT stream FROM _protime.columns')
  return rows.map(([stream]) => String(stream))
}
