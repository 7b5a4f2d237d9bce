import { PEOPLE, type PersonPath, REFERENCES } from '../streams/person-paths.ts'
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

/** Whether a row of `source` is the person's by one path, as SQL; `column` has the values of the path's first member. */
export function leadsTo(
  id: string,
  stream: string,
  [member, ...rest]: PersonPath,
  dialect: PersonDialect,
  column = member,
): string {
  const isHere = `${AT[dialect](columnOf(column, dialect), rest)} = ${literal(id)}`
  return stream === REFERENCES ? `source."collection" = ${literal(PEOPLE)} AND ${isHere}` : isHere
}

/** A column of `source`. In PostgreSQL, `protime sync` writes names in small letters, and other loaders keep them. */
function columnOf(name: string, dialect: PersonDialect): string {
  const small = name.toLowerCase()
  if (dialect === 'duckdb' || name === small) return `source.${quoted(name)}`
  const [kept, lowered] = [name, small].map((key) => `to_jsonb(source) -> ${literal(key)}`)
  return `COALESCE(${kept}, ${lowered})`
}
