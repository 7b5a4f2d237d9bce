import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { keyOf, streams } from '../../src/streams/streams.ts'
import { compare, type Difference, type Fields } from './compare.ts'

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
      'SELECT DISTINCT stream FROM _protime.columns ORDER BY stream',
    )
    for (const stream of reader.getRows().map(([name]) => String(name))) {
      const facts = streams.get(stream)
      if (facts === undefined) throw new Error(`The warehouse has a stream ${stream}`)
      const service = await truth(stream)
      const warehouse = rowsOf(stream, connection)
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
async function* rowsOf(stream: string, connection: DuckDBConnection): AsyncGenerator<string> {
  const reader = await connection.runAndReadAll(
    'SELECT property, name FROM _protime.columns WHERE stream = $stream',
    { stream },
  )
  const members = reader
    .getRows()
    .map(([property, name]) => `${literal(String(property))}, "${String(name)}"`)
  const result = await connection.stream(
    `SELECT json_object(${members.join(', ')})::VARCHAR FROM main."${stream}"`,
  )
  for await (const batch of result.yieldRows()) yield* batch.map(([text]) => String(text))
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
