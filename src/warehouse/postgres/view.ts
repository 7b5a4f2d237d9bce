import type { FlatView } from '../landing.ts'
import { quoted } from '../sql.ts'
import type { Connection } from './connection.ts'
import { literal } from './dialect.ts'

/** What PostgreSQL says if a view cannot become another one, and if others depend on one that is dropped. */
const [NOT_REPLACED, DEPENDED_ON] = ['42P16', '2BP01']

/**
 * Creates or replaces a view with the options that others gave it. PostgreSQL can only add columns at its end, so the present
 * ones keep their order. If a column goes or gets another type, the view is dropped and created, and grants what it granted
 * before. Returns false if it stays as it is because objects of others depend on that, or would go with it.
 */
export async function replaceView(
  connection: Connection,
  { schema, name, columns, query, comments }: FlatView,
): Promise<boolean> {
  const view = `${schema}.${quoted(name)}`
  const { rows: before } = await connection.query(columnsOf(view))
  const { rows: options } = await connection.query(optionsOf(view))
  const own = new Set(columns)
  const present = before.map(([column]) => String(column))
  const [kept, known] = [present.filter((column) => own.has(column)), new Set(present)]
  const order = [...kept, ...columns.filter((column) => !known.has(column))]
  const select = `SELECT ${order.map((column) => `shown.${quoted(column)}`).join(', ')} FROM (${query}) AS shown`
  const as = `VIEW ${view} ${options.map(([all]) => `WITH (${all})`).join('')} AS ${select}`
  const isReplaced =
    kept.length === present.length &&
    (await attempt(connection, `CREATE OR REPLACE ${as}`, NOT_REPLACED))
  if (!isReplaced) {
    const { rows: others } = await connection.query(partsOfOthers(view))
    if (others.length > 0) return false
    const grants = await grantsOf(connection, view)
    if (!(await attempt(connection, `DROP VIEW ${view}; CREATE ${as}`, DEPENDED_ON))) return false
    // Others may have taken back what the default privileges grant.
    const revoked = (await grantsOf(connection, view)).map(
      ({ role }) => `REVOKE ALL ON ${view} FROM ${role}`,
    )
    const granted = grants
      .filter(({ column }) => column === null || own.has(column))
      .map(({ right, column, role, option }) => {
        const what = column === null ? right : `${right} (${quoted(column)})`
        return `GRANT ${what} ON ${view} TO ${role}${option}`
      })
    await connection.query([...revoked, ...granted].join(';\n'))
  }
  await connection.query(comments.join(';\n'))
  return true
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

const relation = (view: string) => `to_regclass(${literal(view)})`

const columnsOf = (view: string) => `SELECT attribute.attname FROM pg_attribute AS attribute
  WHERE attribute.attrelid = ${relation(view)} AND attribute.attnum > 0 ORDER BY attribute.attnum`

const optionsOf = (view: string) => `SELECT array_to_string(owner.reloptions, ', ')
  FROM pg_class AS owner WHERE owner.oid = ${relation(view)} AND owner.reloptions IS NOT NULL`

/** What others have added to the view itself: PostgreSQL drops triggers, rules and defaults with it, and asks nobody. */
const partsOfOthers = (view: string) => `SELECT 1 FROM pg_trigger WHERE tgrelid = ${relation(view)}
  UNION ALL SELECT 1 FROM pg_rewrite WHERE ev_class = ${relation(view)} AND rulename <> '_RETURN'
  UNION ALL SELECT 1 FROM pg_attrdef WHERE adrelid = ${relation(view)}`

/** A right that somebody else has on a view, or on one of its columns. */
interface Grant {
  readonly right: string
  readonly column: string | null
  /** Its name in SQL. */
  readonly role: string
  readonly option: string
}

async function grantsOf(connection: Connection, view: string): Promise<Grant[]> {
  const { rows } = await connection.query(`SELECT granted.privilege_type, held.attname,
      CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(granted.grantee)) END,
      CASE WHEN granted.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END
    FROM pg_class AS owner, LATERAL (
      SELECT NULL AS attname, owner.relacl AS acl
      UNION ALL SELECT attribute.attname, attribute.attacl
        FROM pg_attribute AS attribute WHERE attribute.attrelid = owner.oid
    ) AS held, LATERAL aclexplode(held.acl) AS granted
    WHERE owner.oid = ${relation(view)} AND granted.grantee <> owner.relowner`)
  return rows.map(([right, column = null, role, option]) => ({
    ...{ right: String(right), column, role: String(role), option: String(option) },
  }))
}
