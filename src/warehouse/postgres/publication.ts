import type { Connection } from './connection.ts'
import { literal } from './dialect.ts'

/**
 * Gives each table of the warehouse that is in a publication a replica identity: without one, PostgreSQL refuses to update or
 * delete its rows. A publication `FOR ALL TABLES` has every new table, and none of ours has a primary key. To be called in a
 * transaction, before it writes.
 */
export async function identifyPublishedRows(
  connection: Connection,
  schemas: readonly string[],
): Promise<void> {
  const { rows } =
    await connection.query(`SELECT format('ALTER TABLE %s REPLICA IDENTITY FULL', class.oid::regclass)
    FROM pg_class AS class JOIN pg_namespace AS namespace ON namespace.oid = class.relnamespace
    WHERE EXISTS (SELECT FROM pg_publication) AND namespace.nspname IN (${schemas.map(literal).join(', ')})
      AND class.relkind = 'r' AND class.relreplident = 'd' AND pg_has_role(class.relowner, 'USAGE')
      AND NOT EXISTS (SELECT FROM pg_index WHERE indrelid = class.oid AND indisprimary)
      AND EXISTS (SELECT FROM pg_publication_tables AS published
        WHERE published.schemaname = namespace.nspname AND published.tablename = class.relname)`)
  if (rows.length > 0) await connection.query(rows.flat().join('; '))
}
