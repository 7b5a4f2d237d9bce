import { ConnectorError } from '../ground/errors.ts'
import { createCollector } from '../ground/v8.ts'
import { JsonDigest } from '../records/json-digest.ts'
import { readState, withheldIn } from '../sync/stored-state.ts'
import { isOwned, readStates, streamsToStartOver } from '../warehouse/account.ts'
import type { Column } from '../warehouse/column.ts'
import type { Landing, Owner, Patience } from '../warehouse/landing.ts'
import { engineOf } from '../warehouse/landings.ts'
import { quoted } from '../warehouse/sql.ts'
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
 * Reads the rows of each stream from a landing of `protime sync`, all as of the same moment: the file is open, so that no
 * sync can write, until everything has been read. Streams that were never synced are left out.
 */
export async function readWarehouse(settings: WarehouseRowsSettings): Promise<Held> {
  const { path, patience } = settings
  const landing = await engineOf(path).read(path, patience)
  return heldIn(landing, settings).finally(() => landing.close())
}

async function heldIn(
  landing: Landing,
  { path, owner, streams, isWanted = () => true }: WarehouseRowsSettings,
): Promise<Held> {
  if (!(await isOwned(landing, path, owner)))
    throw new ConnectorError(
      'config',
      'not-a-warehouse',
      `${path} is not a warehouse of protime sync. Name one with --warehouse, or rows with --rows.`,
    )
  const columns = await storedColumns(landing)
  const present = await landing.present()
  const states = await readStates(landing)
  const startOver = await streamsToStartOver(landing)
  const held = new Map<string, HeldRows | { readonly why: string }>()
  const collect = createCollector()
  for (const stream of streams) {
    const { name } = stream
    const state = readState(states.get(name))
    if (state === 'none') continue
    if ('unreadable' in state)
      held.set(name, { why: `its state cannot be used, ${state.unreadable}` })
    else if (!state.isSettled) held.set(name, { why: 'its read of all rows is not complete' })
    else if (startOver.has(name)) held.set(name, { why: 'it is to be read from the beginning' })
    else {
      const known = {
        from: state.start,
        until: state.listedUntil,
        version: state.keys.highestVersion,
        withheld: withheldIn(state),
      }
      const rows = await readTable(landing, {
        stream,
        columns: columns.get(name) ?? [],
        present: new Set(present.columnsOf(name)?.keys()),
        isWanted: (key) => isWanted(name, key),
        collect,
      })
      held.set(name, { ...rows, known })
    }
  }
  return held
}

interface TableSettings {
  readonly stream: VerifiedStream
  readonly columns: readonly Column[]
  /** The columns that the table still has, in lower case; others may have been dropped. */
  readonly present: ReadonlySet<string>
  readonly isWanted: (key: RowKey) => boolean
  readonly collect: (rows: number) => void
}

async function readTable(
  landing: Landing,
  { stream, columns: known, present, isWanted, collect }: TableSettings,
): Promise<HeldRows> {
  const reader = createExactReader(stream, known)
  const table = new RowTable()
  const repeated: RowKey[] = []
  const columns = known.filter(({ name }) => present.has(name.toLowerCase()))
  if (columns.length === 0) return { table, repeated, reader, lacking: [] }
  const width = reader.fields.names.length
  const { schemas, textOf } = landing.sql
  const values = columns.map(({ name, type }) => textOf(`source.${quoted(name)}`, type))
  const query = `SELECT ${values.join(', ')} FROM ${schemas.tables}.${quoted(stream.name)} AS source`
  const rows = createRows(stream, columns, reader)
  for await (const { rowCount, valuesOf } of landing.stream(query)) {
    rows.begin(rowCount)
    for (const column of columns.keys()) rows.take(column, valuesOf(column))
    for (let i = 0; i < rowCount; i++) {
      rows.show(i)
      const { row } = reader
      if (isWanted(row.key) && !table.add(row, width)) repeated.push(row.key)
    }
    collect(rowCount)
  }
  table.end()
  return { table, repeated, reader, lacking: [] }
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
