import type { DuckDBConnection } from '@duckdb/node-api'
import { meaningOf, type PrivacySettings } from '../privacy/privacy-settings.ts'
import { createPseudonyms } from '../privacy/pseudonyms.ts'
import { PEOPLE, REFERENCES } from '../streams/person-paths.ts'
import { readStreamSchema } from '../streams/streams.ts'
import { texts } from '../warehouse/duckdb.ts'
import { literal, quoted } from '../warehouse/sql.ts'
import { valueAt } from './conditions.ts'
import {
  type FoundRow,
  personNames,
  personRows,
  rowsToJudge,
  streamTables,
} from './person-tables.ts'

/** What a file has about a person. */
export interface PersonData {
  readonly rows: readonly FoundRow[]
  /** Rows of others with texts that may be about the person. */
  readonly toJudge: readonly FoundRow[]
}

/** Finds everything that an open file has about a person; nothing is changed. */
export async function readPerson(connection: DuckDBConnection, id: string): Promise<PersonData> {
  const tables = await streamTables(connection, id)
  const rows = await personRows(connection, tables)
  const names = await personNames(connection, tables, rows)
  return { rows, toJudge: await rowsToJudge(connection, tables, names) }
}

/** A row as a line of an export: `{"stream", "key", "why", "row"}`. */
export function exportedLine({ stream, key, why, row }: FoundRow): string {
  const shown = key.length === 1 ? key[0] : key
  return `${JSON.stringify({ stream, key: shown, why }).slice(0, -1)},"row":${row}}`
}

/** An external reference of a person. */
export interface PersonReference {
  readonly name: string
  readonly value: string
}

/** The ids of the people to whom a reference leads, by the tables of a file; `privacy` says whether these have hashes. */
export async function idsByReference(
  connection: DuckDBConnection,
  { name, value }: PersonReference,
  { pseudonyms }: PrivacySettings,
): Promise<string[]> {
  const meaning = `${PEOPLE} ${name}`
  const hash = pseudonyms && createPseudonyms(pseudonyms).of(meaning)(JSON.stringify(value))
  const values = [value, ...(hash === undefined ? [] : [String(JSON.parse(hash))])].map(literal)
  const isValue = (text: string) => `${text} IN (${values.join(', ')})`
  const { properties } = readStreamSchema(PEOPLE)
  const ids = new Set<string>()
  for (const { stream, table, columns } of await streamTables(connection, '')) {
    if (stream !== PEOPLE && stream !== REFERENCES) continue
    const inPeople = columns.flatMap((column) => {
      const means = meaningOf(properties[column.property] ?? {})
      if (means === meaning) return [isValue(valueAt(column.name, []))]
      return means === PEOPLE ? [isValue(valueAt(column.name, [name]))] : []
    })
    const [id, conditions] =
      stream === PEOPLE
        ? (['id', inPeople] as const)
        : (['internalReference', [isPeopleReference(name, isValue)]] as const)
    if (conditions.length === 0) continue
    const query = `SELECT ${valueAt(id, [])} FROM main.${quoted(table)} AS source WHERE ${conditions.join(' OR ')}`
    for (const [found = ''] of await texts(connection, query)) ids.add(found)
  }
  return [...ids]
}

function isPeopleReference(name: string, isValue: (text: string) => string): string {
  const [collection, its, value] = ['collection', 'name', 'value'].map((column) =>
    valueAt(column, []),
  )
  return `${collection} = ${literal(PEOPLE)} AND ${its} = ${literal(name)} AND ${isValue(String(value))}`
}
