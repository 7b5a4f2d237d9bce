import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { keyOf, streams } from '../../src/streams/streams.ts'
import { literal } from '../../src/warehouse/duckdb/dialect.ts'
import { quoted } from '../../src/warehouse/sql.ts'

/** A row that is not the same on both sides. */
export interface Difference {
  readonly stream: string
  /** The values of the primary key, as a text. */
  readonly id: string
  /** What differs, in words. */
  readonly what: string
}

/** A record of the service, or a row of the warehouse with the names of the service. */
export type Fields = Readonly<Record<string, unknown>>

/** What is to be compared: all that lives in the service, and all rows of the final table. */
export interface Sides {
  readonly stream: string
  readonly key: readonly string[]
  readonly service: Iterable<Fields>
  /** The rows as JSON texts. */
  readonly warehouse: AsyncIterable<string> | Iterable<string>
}

/**
 * Compares by content and in both directions: every property of every record. Properties of a record
 * that are null count as absent, because a column does not know the difference.
 */
export async function compare({ stream, key, service, warehouse }: Sides): Promise<Difference[]> {
  const differences: Difference[] = []
  const differ = (id: string, what: string) => differences.push({ stream, id, what })
  const unmet = new Map<string, Fields>()
  for (const record of service) unmet.set(idOf(record, key), record)
  const met = new Set<string>()
  for await (const text of warehouse) {
    const row = JSON.parse(text) as Fields
    const id = idOf(row, key)
    const record = unmet.get(id)
    if (met.has(id)) differ(id, 'is in the warehouse twice')
    else if (record === undefined) differ(id, 'is in the warehouse, but not in the service')
    else if (!isSameRecord(record, row)) differ(id, whatDiffers(record, row))
    met.add(id)
    unmet.delete(id)
  }
  for (const id of unmet.keys()) differ(id, 'is in the service, but not in the warehouse')
  return differences
}

function isSameRecord(record: Fields, row: Fields): boolean {
  for (const name in record) {
    if (!isSame(record[name] ?? null, row[name] ?? null)) return false
  }
  for (const name in row) {
    if (row[name] !== null && !(name in record)) return false
  }
  return true
}

/** Whether two JSON values are equal, in whatever order the members of objects are. */
export function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => name in b && isSame((a as Fields)[name], (b as Fields)[name]))
}

function idOf(record: Fields, key: readonly string[]): string {
  return key.length === 1
    ? String(record[key[0] ?? ''])
    : key.map((name) => record[name]).join(', ')
}

function whatDiffers(record: Fields, row: Fields): string {
  return [...new Set([...Object.keys(record), ...Object.keys(row)])]
    .map((name) => ({ name, service: record[name] ?? null, warehouse: row[name] ?? null }))
    .filter(({ service, warehouse }) => !isSame(service, warehouse))
    .map(
      ({ name, service, warehouse }) =>
        `${name} is ${JSON.stringify(service)} in the service and ${JSON.stringify(warehouse)} in the warehouse`,
    )
    .join('; ')
}

/** Rows of a stream that were compared, and what differed. */
export interface Compared {
  readonly stream: string
  readonly rows: number
  readonly differences: readonly Difference[]
}

/**
 * Compares the tables of a warehouse with the service, stream by stream: every field of every record.
 * `truth` answers all that the service holds of a stream.
 */
export async function* compareWarehouse(
  path: string,
  truth: (stream: string) => Promise<readonly Fields[]>,
): AsyncGenerator<Compared> {
  const instance = await DuckDBInstance.create(path, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll(
      // The inventory is none of the service's.
      "SELECT DISTINCT stream FROM _protime.columns WHERE stream <> 'inventory' ORDER BY stream",
    )
    for (const stream of reader.getRows().map(([name]) => String(name))) {
      const facts = streams.get(stream)
      if (facts === undefined) throw new Error(`The warehouse has a stream ${stream}`)
      const service = await truth(stream)
      const warehouse = tableRows(stream, connection)
      const differences = await compare({ stream, key: keyOf(facts), service, warehouse })
      yield { stream, rows: service.length, differences }
    }
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** What a warehouse and its service have not in common, in words. */
export async function warehouseDifferences(
  ...sides: Parameters<typeof compareWarehouse>
): Promise<string[]> {
  const found: string[] = []
  for await (const { stream, differences } of compareWarehouse(...sides))
    found.push(...differences.map(({ id, what }) => `${stream} ${id}: ${what}`))
  return found
}

/** The rows of a table as JSON texts, by the names of the service and with nulls. */
export async function* tableRows(
  stream: string,
  connection: DuckDBConnection,
): AsyncGenerator<string> {
  const reader = await connection.runAndReadAll(
    'SELECT property, name, variant_of FROM _protime.columns WHERE stream = $stream',
    { stream },
  )
  const columns = reader.getRows().map((row) => row.map(String)) as [string, string, string][]
  const members = columns
    .filter(([, , variantOf]) => variantOf === 'null')
    .map(([property, name]) => {
      // What a column does not hold is in its variant.
      const [, variant] = columns.find(([, , variantOf]) => variantOf === name) ?? []
      const [own, other] = [quoted(name), quoted(variant ?? '')]
      const value = variant === undefined ? own : `coalesce(${other}, to_json(${own}))`
      return `${literal(JSON.parse(property) as string)}, ${value}`
    })
  const result = await connection.stream(
    `SELECT json_object(${members.join(', ')})::VARCHAR FROM main."${stream}"`,
  )
  for await (const batch of result.yieldRows()) yield* batch.map(([text]) => String(text))
}
