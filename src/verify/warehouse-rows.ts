import type { DuckDBConnection } from '@duckdb/node-api'
import { ConnectorError } from '../ground/errors.ts'
import { createCollector } from '../ground/v8.ts'
import { JsonDigest } from '../records/json-digest.ts'
import { readState, withheldIn } from '../sync/stored-state.ts'
import { isOwned, type Owner } from '../warehouse/account.ts'
import { type Column, DELETED_AT } from '../warehouse/column.ts'
import { closingOnError, openDatabase, type Patience, texts } from '../warehouse/duckdb.ts'
import { presentTables } from '../warehouse/present-tables.ts'
import { literal, quoted } from '../warehouse/sql.ts'
import { storedColumns } from '../warehouse/tables.ts'
import { dayNumber, keyOf, NO_DAY, type RowKey } from './digests.ts'
import { createExactReader, type RecordReader } from './record-reader.ts'
import { type Held, type HeldRows, RowTable, type VerifiedStream } from './row-table.ts'

export interface WarehouseRowsSettings {
  readonly path: string
  readonly owner: Owner
  readonly patience: Patience
  readonly streams: readonly VerifiedStream[]
  /** Which rows to read; all by default. */
  readonly isWanted?: (stream: string, key: RowKey) => boolean
}

/**
 * Reads the rows of each stream from a DuckDB file of `protime sync`, all as of the same moment: the file is open, so
 * that no sync can write, until everything has been read. Streams that were never synced are left out.
 */
export async function readWarehouse(settings: WarehouseRowsSettings): Promise<Held> {
  const { path, owner, patience, streams, isWanted = () => true } = settings
  const database = await patience(() => openDatabase(path))
  const { connection } = database
  return closingOnError(database, async () => {
    if (!(await isOwned(connection, path, owner)))
      throw new ConnectorError(
        'config',
        'not-a-warehouse',
        `${path} is not a file of protime sync. Name one with --warehouse, or rows with --rows.`,
      )
    const columns = await storedColumns(connection)
    const present = await presentTables(connection)
    const marked = new Set((await texts(connection, MARKED)).map(([name = '']) => name))
    const states = new Map(
      (await texts(connection, 'SELECT stream, state FROM _protime.states')).map(
        ([stream = '', state = '']) => [stream, readState(JSON.parse(state))],
      ),
    )
    const held = new Map<string, HeldRows | { readonly why: string }>()
    const collect = createCollector()
    for (const stream of streams) {
      const { name } = stream
      const state = states.get(name)
      if (state === undefined || state === 'none') continue
      if ('unreadable' in state)
        held.set(name, { why: `its state cannot be used, ${state.unreadable}` })
      else if (!state.isSettled) held.set(name, { why: 'its first read is not complete' })
      else {
        const known = {
          from: state.start,
          until: state.listedUntil,
          version: state.keys.highestVersion,
          withheld: withheldIn(state),
        }
        const rows = await readTable(connection, {
          stream,
          columns: columns.get(name) ?? [],
          present: new Set(present.columnsOf(name)?.keys()),
          isMarked: marked.has(name),
          isWanted: (key) => isWanted(name, key),
          collect,
        })
        held.set(name, { ...rows, known })
      }
    }
    database.close()
    return held
  })
}

/** The tables with rows that are marked as deleted. */
const MARKED = `SELECT table_name FROM information_schema.columns
  WHERE table_schema = 'main' AND column_name = ${literal(DELETED_AT)}`

interface TableSettings {
  readonly stream: VerifiedStream
  readonly columns: readonly Column[]
  /** The columns that the table still has, in lower case; others may have been dropped. */
  readonly present: ReadonlySet<string>
  /** Whether the table has rows that are marked as deleted. */
  readonly isMarked: boolean
  readonly isWanted: (key: RowKey) => boolean
  readonly collect: (rows: number) => void
}

async function readTable(
  connection: DuckDBConnection,
  { stream, columns: known, present, isMarked, isWanted, collect }: TableSettings,
): Promise<HeldRows> {
  const reader = createExactReader(stream, known)
  const table = new RowTable()
  const repeated: RowKey[] = []
  const columns = known.filter(({ name }) => present.has(name.toLowerCase()))
  if (columns.length === 0) return { table, repeated, reader, lacking: [] }
  const width = reader.fields.names.length
  const living = isMarked ? ` WHERE source.${DELETED_AT} IS NULL` : ''
  const result = await connection.stream(
    `SELECT ${columns.map(asText).join(', ')} FROM main.${quoted(stream.name)} AS source${living}`,
  )
  const rows = createRows(stream, columns, reader)
  for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
    rows.begin(chunk.rowCount)
    for (const column of columns.keys())
      rows.take(column, chunk.getColumnValues(column) as readonly (string | null)[])
    for (let i = 0; i < chunk.rowCount; i++) {
      rows.show(i)
      const { row } = reader
      if (isWanted(row.key) && !table.add(row, width)) repeated.push(row.key)
    }
    collect(chunk.rowCount)
  }
  table.end()
  return { table, repeated, reader, lacking: [] }
}

function asText({ name, type }: Column): string {
  const column = `source.${quoted(name)}`
  if (type === 'VARCHAR' || type === 'JSON') return column
  return type === 'TIMESTAMP_NS'
    ? `strftime(${column}, '%Y-%m-%dT%H:%M:%S.%n')`
    : `CAST(${column} AS VARCHAR)`
}

/** Reads rows column by column, so that the strings of only one column are in memory. */
interface Rows {
  begin(count: number): void
  /** The values of a column for all rows. */
  take(column: number, values: readonly (string | null)[]): void
  /** Makes a row the current one of the reader. */
  show(index: number): void
}

function createRows(
  { key, version, dateField }: VerifiedStream,
  columns: readonly Column[],
  { row, fields }: RecordReader,
): Rows {
  const digest = new JsonDigest()
  const width = fields.names.length
  const places = columns.map(({ property }) => fields.placeOf(property))
  const keyPlaces = key.map((name) => fields.placeOf(name))
  const versionPlace = version === undefined ? -1 : fields.placeOf(version)
  const dayPlace = dateField === undefined ? -1 : fields.placeOf(dateField)
  let highs = new Int32Array(0)
  let lows = new Int32Array(0)
  let keys: string[][] = []
  const versions: (string | undefined)[] = []
  const days: number[] = []
  return {
    begin(count) {
      highs = new Int32Array(count * width)
      lows = new Int32Array(count * width)
      keys = Array.from({ length: count }, () => key.map(() => 'null'))
      versions.length = 0
      days.length = 0
    },
    take(column, values) {
      const { type } = columns[column] as Column
      const place = places[column] as number
      const keyColumn = keyPlaces.indexOf(place)
      const isText = type === 'VARCHAR' || type === 'DATE' || type === 'TIMESTAMP_NS'
      for (const [index, text] of values.entries()) {
        if (text === null) continue
        if (isText) digest.text(text)
        else digest.json(text)
        highs[index * width + place] = digest.high
        lows[index * width + place] = digest.low
        if (keyColumn >= 0)
          (keys[index] as string[])[keyColumn] = isText ? JSON.stringify(text) : text
        if (isText && place === versionPlace) versions[index] = text
        if (isText && place === dayPlace) days[index] = dayNumber(text)
      }
    },
    show(index) {
      row.clear()
      const at = index * width
      for (let place = 0; place < width; place++)
        row.set(place, highs[at + place] as number, lows[at + place] as number)
      row.key = keyOf(keys[index] as string[])
      row.version = versions[index]
      row.day = days[index] ?? NO_DAY
      row.sum(fields, digest)
    },
  }
}
