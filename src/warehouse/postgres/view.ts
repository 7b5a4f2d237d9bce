import type { FlatView } from '../landing.ts'
import { quoted } from '../sql.ts'
import type { Connection } from './connection.ts'
import { literal } from './dialect.ts'

/** What PostgreSQL says if a view cannot become another one, and if others depend on one that is dropped. */
const [NOT_REPLACED, DEPENDED_ON] = ['42P16', '2BP01']

/**
 * Creates or replaces a view. PostgreSQL can only add columns at its end, so the present ones keep their order. If a column
 * goes or gets another type, the view is dropped and created with its grants. Returns its digest; undefined if objects of
 * others depend on it as it is.
 */
export async function replaceView(
  connection: Connection,
  { schema, name, columns, query, comments }: FlatView,
): Promise<string | undefined> {
  const view = `${schema}.${quoted(name)}`
  const before = await columnsOf(connection, schema, name)
  const own = new Set(columns)
  const [kept, known] = [before.filter((column) => own.has(column)), new Set(before)]
  const order = [...kept, ...columns.filter((column) => !known.has(column))]
  const select = `SELECT ${order.map((column) => `shown.${quoted(column)}`).join(', ')} FROM (${query}) AS shown`
  const isDone =
    (kept.length === before.length &&
      (await attempt(connection, `CREATE OR REPLACE VIEW ${view} AS ${select}`, NOT_REPLACED))) ||
    (await attempt(
      connection,
      [
        `DROP VIEW ${view}`,
        `CREATE VIEW ${view} AS ${select}`,
        ...(await grantsOf(connection, schema, name)),
      ].join(';\n'),
      DEPENDED_ON,
    ))
  if (!isDone) return undefined
  await connection.query(comments.join(';\n'))
  const { rows } = await connection.query(
    `SELECT md5(pg_get_viewdef(to_regclass(${regclass(schema, name)})))`,
  )
  return rows[0]?.[0] ?? undefined
}

/** Runs statements, or none of them if PostgreSQL refuses one with this state. */
async function attempt(connection: Connection, sql: string, state: string): Promise<boolean> {
  await connection.query('SAVEPOINT before_view')
  try {
    await connection.query(sql)
  } catch (error) {
    if ((error as { readonly code?: string }).code !== state) throw error
    await connection.query('ROLLBACK TO SAVEPOINT before_view')
    return false
  }
  await connection.query('RELEASE SAVEPOINT before_view')
  return true
}

async function columnsOf(connection: Connection, schema: string, view: string): Promise<string[]> {
  const { rows } = await connection.query(`SELECT attribute.attname FROM pg_attribute AS attribute
    WHERE attribute.attrelid = to_regclass(${regclass(schema, view)}) AND attribute.attnum > 0
    ORDER BY attribute.attnum`)
  return rows.map(([name]) => String(name))
}

/** The statements that grant again what others may do with a view. */
async function grantsOf(connection: Connection, schema: string, view: string): Promise<string[]> {
  const { rows } = await connection.query(`SELECT granted.privilege_type,
      CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(granted.grantee)) END,
      CASE WHEN granted.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
    FROM pg_class AS owner, LATERAL aclexplode(owner.relacl) AS granted
    WHERE owner.oid = to_regclass(${regclass(schema, view)}) AND granted.grantee <> owner.relowner`)
  return rows.map(
    ([right, role, option]) => `GRANT ${right} ON ${schema}.${quoted(view)} TO ${role}${option}`,
  )
}

function regclass(schema: string, name: string): string {
  return literal(`${schema}.${quoted(name)}`)
}
