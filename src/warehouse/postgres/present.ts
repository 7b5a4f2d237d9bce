import type { Dialect } from '../landing.ts'
import { literal } from './dialect.ts'

type Schemas = Dialect['schemas']

/** Selects what exists in the schemas of a warehouse. Of two columns whose names differ only in case, that in small letters is the last. */
export function selectsOf({ tables, flat, history }: Schemas) {
  return {
    columns: `SELECT owner.relname, attribute.attname, format_type(attribute.atttypid, attribute.atttypmod)
      FROM pg_attribute AS attribute JOIN pg_class AS owner ON owner.oid = attribute.attrelid
      WHERE ${isIn(tables)} AND owner.relkind IN ('r', 'p') AND attribute.attnum > 0 AND NOT attribute.attisdropped
      ORDER BY attribute.attname = lower(attribute.attname)`,
    others: [
      `${named(tables)} AND owner.relkind NOT IN ('r', 'p')`,
      ...[flat, history].map((schema) => `${named(schema)} AND owner.relkind <> 'v'`),
    ].join(' UNION ALL '),
    nameOf: (name: string) => name,
  }
}

/** Selects the views of streams: to render a view of others would wait for whoever changes it. */
export function selectViews({ flat, history }: Schemas, streams: readonly string[]): string {
  const names = streams.map(literal).join(', ') || 'NULL'
  return [flat, history]
    .map((schema) => named(schema, ', md5(pg_get_viewdef(owner.oid))'))
    .map((select) => `${select} AND owner.relkind = 'v' AND owner.relname IN (${names})`)
    .join(' UNION ALL ')
}

/** Selects the tables of the account. */
export function selectOwn({ account }: Schemas): string {
  return `SELECT owner.relname FROM pg_class AS owner WHERE ${isIn(account)} AND owner.relkind = 'r'`
}

/** Selects whatever is in the schema of the account, as `schema.name`. */
export function selectInAccount({ account }: Schemas): string {
  return named(account)
}

function named(schema: string, more = ''): string {
  return `SELECT ${literal(schema)} || '.' || owner.relname${more} FROM pg_class AS owner WHERE ${isIn(schema)}`
}

/** Whether the relation `owner` is in a schema, which need not exist. */
function isIn(schema: string): string {
  return `owner.relnamespace = to_regnamespace(${literal(schema)})`
}
