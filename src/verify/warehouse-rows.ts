import { ConnectorError } from '../ground/errors.ts'
import { readState, withheldIn } from '../sync/stored-state.ts'
import { isOwned, readStates, streamsToStartOver } from '../warehouse/account.ts'
import { type Column, isText } from '../warehouse/column.ts'
import type { Dialect, Landing, Owner, Patience } from '../warehouse/landing.ts'
import { engineOf } from '../warehouse/landings.ts'
import { quoted } from '../warehouse/sql.ts'
import { storedColumns } from '../warehouse/tables.ts'
import type { RowKey } from './digests.ts'
import { createExactReader } from './record-reader.ts'
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
  for (const stream of streams) {
    const { name } = stream
    const state = readState(states.get(name))
    if (state === 'none') continue
    if ('unreadable' in state)
      held.set(name, { why: `its state cannot be used, ${state.unreadable}` })
    else if (!state.isSettled) held.set(name, { why: 'its read of all rows is not complete' })
    else if (startOver.has(name)) held.set(name, { why: 'it is to be read from the beginning' })
    else if (present.inTheWayOf(landing.sql.schemas.tables, name) !== undefined)
      held.set(name, { why: 'something else is in the place of its table' })
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
        present: present.columnsOf(name) ?? new Map(),
        isWanted: (key) => isWanted(name, key),
      })
      held.set(name, { ...rows, known })
    }
  }
  return held
}

interface TableSettings {
  readonly stream: VerifiedStream
  readonly columns: readonly Column[]
  /** The columns that the table still has, in lower case, and their types; others may have been dropped. */
  readonly present: ReadonlyMap<string, string>
  readonly isWanted: (key: RowKey) => boolean
}

async function readTable(
  landing: Landing,
  { stream, columns: known, present, isWanted }: TableSettings,
): Promise<HeldRows> {
  const reader = createExactReader(stream, known)
  const table = new RowTable()
  const repeated: RowKey[] = []
  const columns = known.filter(({ name }) => present.has(name.toLowerCase()))
  if (columns.length === 0) return { table, repeated, reader, lacking: [] }
  const { row, fields, read } = createExactReader(stream, known, 'rows')
  const from = `${landing.sql.schemas.tables}.${quoted(stream.name)}`
  for await (const rows of landing.texts(from, objectOf(columns, present, landing.sql))) {
    for (const text of rows) {
      read(text, 0)
      if (isWanted(row.key) && !table.add(row, fields.names.length)) repeated.push(row.key)
    }
  }
  table.end()
  return { table, repeated, reader, lacking: [] }
}

/** A row as the text of a JSON object, like the record that it was. It has each property once, which any of its columns may hold. */
function objectOf(
  columns: readonly Column[],
  present: ReadonlyMap<string, string>,
  sql: Dialect,
): string {
  const values = new Map<string, string[]>()
  for (const column of columns) {
    const now = present.get(column.name.toLowerCase()) ?? ''
    values.set(column.property, [...(values.get(column.property) ?? []), jsonOf(column, now, sql)])
  }
  const members = [...values].flatMap(([property, texts], i) => [
    sql.literal(`${i === 0 ? '{' : ','}${JSON.stringify(property)}:`),
    onlyOf(texts),
  ])
  return concatenated([...members, "'}'"])
}

/** Types that somebody may have given a column, as engines show them: of texts, which need not be JSON, */
const TEXT = /^(VARCHAR|TEXT|CHARACTER)/
/** and of numbers that JSON does not have. */
const FLOAT = /^(DOUBLE|FLOAT|REAL|NUMERIC|DECIMAL)/
const NO_NUMBERS = "'nan', 'inf', '-inf', 'NaN', 'Infinity', '-Infinity'"

/** The value of a column, of this type now, as the text of JSON; null if it has none. */
function jsonOf({ name, type }: Column, now: string, sql: Dialect): string {
  const value = `source.${quoted(name)}`
  const unquoted = (of: string) => `CAST(${sql.textOf(of, type)} AS TEXT)`
  const inQuotes = (text: string) => `CAST(to_json(${text}) AS TEXT)`
  const text = unquoted(value)
  if (isText(type)) return inQuotes(text)
  if (FLOAT.test(now))
    return `CASE WHEN ${text} IN (${NO_NUMBERS}) THEN ${inQuotes(text)} ELSE ${text} END`
  if (!TEXT.test(now)) return text
  return `coalesce(${unquoted(sql.retyped(value, sql.type(type)))}, ${inQuotes(value)})`
}

/** The one value among those of a property. A sync writes no two, which are then an object that no record has. */
function onlyOf(texts: readonly string[]): string {
  const one = `coalesce(${texts.join(', ')}, 'null')`
  if (texts.length === 1) return one
  const count = texts.map((text) => `CASE WHEN ${text} IS NULL THEN 0 ELSE 1 END`).join(' + ')
  return `CASE WHEN ${count} > 1 THEN '{"":{"":true}}' ELSE ${one} END`
}

/** Texts as one, with at most so many arguments for each call as PostgreSQL allows. */
function concatenated(texts: readonly string[]): string {
  if (texts.length <= ARGUMENTS) return `concat(${texts.join(', ')})`
  const groups = Math.ceil(texts.length / ARGUMENTS)
  return concatenated(
    Array.from({ length: groups }, (_, i) =>
      concatenated(texts.slice(i * ARGUMENTS, (i + 1) * ARGUMENTS)),
    ),
  )
}

const ARGUMENTS = 100
