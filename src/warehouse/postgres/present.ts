import type { Dialect, PresentTables } from '../landing.ts'
import type { Connection } from './connection.ts'
import { literal } from './dialect.ts'

/** Reads what exists in the schemas of a warehouse. */
export async function presentTables(
  connection: Connection,
  { schemas }: Pick<Dialect, 'schemas'>,
): Promise<PresentTables> {
  const { tables, flat, history, account } = schemas
  const columns = new Map<string, Map<string, string>>()
  // The last of two names that differ only in case counts: that in small letters, as each of ours is.
  for (const [
    table = '',
    column = '',
    type = '',
  ] of await lowerCased(`SELECT owner.relname, attribute.attname,
      format_type(attribute.atttypid, attribute.atttypmod)
    FROM pg_attribute AS attribute JOIN pg_class AS owner ON owner.oid = attribute.attrelid
    WHERE ${isIn(tables)} AND owner.relkind IN ('r', 'p') AND attribute.attnum > 0 AND NOT attribute.attisdropped
    ORDER BY owner.relname = lower(owner.relname), attribute.attname = lower(attribute.attname)`))
    columns.set(table, (columns.get(table) ?? new Map()).set(column, type.toUpperCase()))
  const others = new Set(
    (
      await lowerCased(`SELECT ${literal(tables)} || '.' || owner.relname FROM pg_class AS owner
          WHERE ${isIn(tables)} AND owner.relkind NOT IN ('r', 'p')
        ${[flat, history]
          .map(
            (schema) => `UNION ALL SELECT ${literal(schema)} || '.' || owner.relname
              FROM pg_class AS owner WHERE ${isIn(schema)} AND owner.relkind <> 'v'`,
          )
          .join(' ')}`)
    ).map(([name]) => name),
  )
  const views = new Map(
    (
      await lowerCased(
        [flat, history]
          .map(
            (
              schema,
            ) => `SELECT ${literal(schema)} || '.' || owner.relname, md5(pg_get_viewdef(owner.oid))
              FROM pg_class AS owner WHERE ${isIn(schema)} AND owner.relkind = 'v'`,
          )
          .join(' UNION ALL '),
      )
    ).map(([name = '', digest = '']) => [name, digest]),
  )
  const own = new Set(
    (
      await lowerCased(
        `SELECT owner.relname FROM pg_class AS owner WHERE ${isIn(account)} AND owner.relkind = 'r'`,
      )
    ).map(([name]) => name),
  )
  return {
    columnsOf: (name) => columns.get(name),
    inTheWayOf: (schema, name) => [`${schema}.${name}`].find((one) => others.has(one)),
    viewOf: (schema, name) => views.get(`${schema}.${name}`) ?? '',
    hasOwn: (name) => own.has(name),
  }

  async function lowerCased(sql: string): Promise<string[][]> {
    const { rows } = await connection.query(sql)
    return rows.map((row) => row.map((name) => String(name).toLowerCase()))
  }
}

/** Whether the relation `owner` is in a schema, which need not exist. */
function isIn(schema: string): string {
  return `owner.relnamespace = to_regnamespace(${literal(schema)})`
}
