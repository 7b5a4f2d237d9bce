import { PEOPLE, type PersonPath } from '../streams/person-paths.ts'
import { literal, quoted } from '../warehouse/sql.ts'
import type { PersonDialect } from './dialects.ts'

/** The SQL that differs between databases: JSON, and how its values are read. */
interface Dialect {
  /** The text of the value at a path in a column of any type. */
  at(column: string, steps: readonly string[]): string
  /** Whether one of the values at a path through lists is this text. */
  has(column: string, steps: readonly string[], text: string): string
}

// Loaders land an object as JSON or as text, and an id as a number of any type or as a text.
const DIALECT = {
  duckdb: {
    at: (column, steps) =>
      steps.length === 0
        ? `json_extract_string(to_json(${column}), '$')`
        : `json_extract_string(CAST(${column} AS JSON), ${pathTo(steps)})`,
    has: (column, steps, text) =>
      `list_contains(json_extract_string(CAST(${column} AS JSON), ${pathTo(steps)}), ${text})`,
  },
  postgres: {
    at: (column, steps) =>
      steps.length === 0
        ? `to_jsonb(${column}) #>> '{}'`
        : `CAST(${column} AS jsonb) #>> ${literal(`{${steps.join(',')}}`)}`,
    has: (column, steps, text) =>
      `EXISTS (SELECT 1 FROM jsonb_path_query(CAST(${column} AS jsonb), ${pathTo(steps)}) AS found WHERE found #>> '{}' = ${text})`,
  },
} satisfies Readonly<Record<PersonDialect, Dialect>>

function pathTo(steps: readonly string[]): string {
  return literal(`$${steps.map((step) => (step === '*' ? '[*]' : `."${step}"`)).join('')}`)
}

/** The text at a path in a column of `source`, as SQL. */
export function valueAt(
  column: string,
  steps: readonly string[],
  dialect: PersonDialect = 'duckdb',
): string {
  return DIALECT[dialect].at(`source.${quoted(column)}`, steps)
}

/**
 * Whether a row of `source` leads to a person by a path, as SQL; `columns` are those that have the values of a member, by default
 * the one of its name.
 */
export function leadsTo(
  id: string,
  { path: [member, ...steps], isOfCollection }: PersonPath,
  dialect: PersonDialect = 'duckdb',
  columns: readonly string[] = [member],
): string {
  const { at, has }: Dialect = DIALECT[dialect]
  const text = literal(id)
  const found = columns.map((name) => {
    const column = `source.${quoted(name)}`
    return steps.includes('*') ? has(column, steps, text) : `${at(column, steps)} = ${text}`
  })
  const isHere = found.length === 1 ? String(found[0]) : `(${found.join(' OR ')})`
  return isOfCollection ? `source."collection" = ${literal(PEOPLE)} AND ${isHere}` : isHere
}
