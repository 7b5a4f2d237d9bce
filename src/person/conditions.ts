import type { Stream } from '../streams/collections.ts'
import { PEOPLE, type PersonPath, personPathsOf, REFERENCES } from '../streams/person-paths.ts'
import { quoted } from '../warehouse/sql.ts'

/** The databases for which statements can be printed. */
export type PersonDialect = 'duckdb' | 'postgres'

/**
 * The text at a path in a column, as SQL. Loaders land an object as JSON or as text, and an id as a number of any type or as text.
 */
const AT: Readonly<Record<PersonDialect, (column: string, path: readonly string[]) => string>> = {
  duckdb: (column, path) =>
    path.length === 0
      ? `json_extract_string(to_json(${column}), '$')`
      : `json_extract_string(CAST(${column} AS JSON), ${literal(`$."${path.join('"."')}"`)})`,
  postgres: (column, path) =>
    path.length === 0
      ? `to_jsonb(${column}) #>> '{}'`
      : `CAST(${column} AS jsonb) #>> ${literal(`{${path.join(',')}}`)}`,
}

/** A text without NUL as a literal of both databases. */
function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Whether a row of `source` is the person's, as SQL. */
export function leadsTo(id: string, stream: string, dialect: PersonDialect): string {
  if (stream === REFERENCES) return isReferenceOf(PEOPLE, literal(id), dialect)
  return personPathsOf(stream)
    .map((path) => `${textAt(path, dialect)} = ${literal(id)}`)
    .join(' OR ')
}

/** Whether a reference is of a record of this stream that is the person's, as SQL. */
export function leadsToOwned(
  id: string,
  { collection, stream }: Pick<Stream, 'collection' | 'stream'>,
  dialect: PersonDialect,
): string {
  const own = `FROM ${stream} AS source WHERE ${leadsTo(id, stream, dialect)}`
  return isReferenceOf(collection, `SELECT ${textAt(['id'], dialect)} ${own}`, dialect)
}

/** Whether a reference is of a record with one of these ids, a list or a query, as SQL. */
function isReferenceOf(collection: string, ids: string, dialect: PersonDialect): string {
  const texts = personPathsOf(REFERENCES).map((path) => `${textAt(path, dialect)} IN (${ids})`)
  return `source."collection" = ${literal(collection)} AND (${texts.join(' OR ')})`
}

function textAt([column, ...rest]: PersonPath, dialect: PersonDialect): string {
  return AT[dialect](columnOf(column, dialect), rest)
}

/** A column of `source`. In PostgreSQL, `protime sync` writes names in small letters, and other loaders keep them. */
function columnOf(name: string, dialect: PersonDialect): string {
  const small = name.toLowerCase()
  if (dialect === 'duckdb' || name === small) return `source.${quoted(name)}`
  const [kept, lowered] = [name, small].map((key) => `to_jsonb(source) -> ${literal(key)}`)
  return `COALESCE(${kept}, ${lowered})`
}
