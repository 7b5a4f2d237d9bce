import { KNOWN_FROM } from '../column.ts'
import type { Dialect } from '../landing.ts'
import type { Connection } from './connection.ts'
import { literal } from './dialect.ts'

/**
 * Gives each table of ours that is in a publication a replica identity: without one, PostgreSQL refuses to update or delete its
 * rows. A publication `FOR ALL TABLES` has every new table, and none of ours has a primary key. To be called in a transaction,
 * before it writes. Beside those of streams, and partitions of them, which have a column of ours, there may be tables
 * of others.
 */
export async function identifyPublishedRows(
  connection: Connection,
  { tables, account }: Dialect['schemas'],
): Promise<void> {
  const { rows: published } = await connection.query(
    `SELECT to_regclass(${literal(`${account}.columns`)}) WHERE EXISTS (SELECT FROM pg_publication)`,
  )
  if (published[0] === undefined) return
  const hasNone = published[0][0] === null
  const known = hasNone ? 'NULL' : `SELECT known.stream FROM ${account}.columns AS known`
  const { rows } =
    await connection.query(`SELECT format('ALTER TABLE %s REPLICA IDENTITY FULL', class.oid::regclass)
    FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE namespace.nspname IN (${literal(tables)}, ${literal(account)})
      AND class.relkind = 'r' AND class.relreplident = 'd' AND pg_has_role(class.relowner, 'USAGE')
      AND (namespace.nspname = ${literal(account)} OR class.relname IN (${known})
        OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = class.oid AND attname = ${literal(KNOWN_FROM)}))
      AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = class.oid AND indisprimary)
      AND EXISTS (SELECT FROM pg_publication_tables AS published
        WHERE published.schemaname = namespace.nspname AND published.tablename = class.relname)`)
  if (rows.length > 0) await connection.query(rows.flat().join('; '))
}
