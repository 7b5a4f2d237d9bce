import { ConnectorError } from '../ground/errors.ts'
import { type Column, type ColumnType, KNOWN_FROM, KNOWN_UNTIL } from './column.ts'
import { freeName, takenNames } from './column-names.ts'
import { type Damage, typesOf } from './damage.ts'
import { type Description, type OpenMember, openObjects, type ValuePlace } from './flat-view.ts'
import { storedHistories } from './history.ts'
import type { Dialect, Landing, Limits, OwnTables, PresentTables, ViewDigests } from './landing.ts'
import type { Progress } from './load-rows.ts'
import { type AddedRows, countIn } from './settle.ts'
import {
  alterTable,
  closedName,
  closedPlace,
  createTable,
  type History,
  nextName,
  nextOf,
  quoted,
  type Table,
} from './sql.ts'
import { type StoredViews, storedNames, storedViews } from './views.ts'

/** Members of an open object with more members than this are only in its JSON. */
const MAX_MEMBERS = 100

/** What the file says of its tables and views, by the names of streams, and what of them exists. */
export interface StoredTables {
  /** See `storedColumns`. */
  readonly columns: ReadonlyMap<string, readonly Column[]>
  /** The members of open objects that the views have as columns. */
  readonly members: ReadonlyMap<string, readonly OpenMember[]>
  /** See `storedViews`. */
  readonly views: ReadonlyMap<string, StoredViews>
  /** See `storedNames`. */
  readonly names: ReadonlyMap<string, ReadonlyMap<ValuePlace, string>>
  /** The streams with a state. */
  readonly withState: ReadonlySet<string>
  /** The progress of the rows of streams that a sync has read. */
  readonly progress: ReadonlyMap<string, Stored>
  /** See `storedHistories`. */
  readonly histories: ReadonlyMap<string, ReadonlySet<string>>
  readonly present: PresentTables
  readonly viewOf: ViewDigests
  readonly hasOwn: OwnTables
}

/** Reads what a sync of these streams has to know before it changes tables. */
export async function readTables(
  landing: Landing,
  streams: readonly string[],
): Promise<StoredTables> {
  const { account } = landing.sql.schemas
  const rows = async (sql: string) => (await landing.query(sql)).map((row) => row.map(String))
  const namesIn = async (sql: string) => new Set((await rows(sql)).map(([name = '']) => name))
  const members = new Map<string, OpenMember[]>()
  for (const [stream = '', column = '', pointer = '', member = ''] of await rows(
    `SELECT stream, name, pointer, member FROM ${account}.members`,
  ))
    members.set(stream, [...(members.get(stream) ?? []), { column, pointer, member }])
  return {
    columns: await storedColumns(landing),
    members,
    views: await storedViews(landing),
    names: await storedNames(landing),
    withState: await namesIn(`SELECT stream FROM ${account}.states WHERE NOT starts_over`),
    progress: await storedProgress(landing),
    histories: await storedHistories(landing),
    present: await landing.present(),
    viewOf: await landing.views(streams),
    hasOwn: await landing.ownTables(),
  }
}

type Stored = Omit<Progress, 'isFilling'>

async function storedProgress(landing: Landing): Promise<Map<string, Stored>> {
  const rows = await landing.query(
    `SELECT stream, generation, rows, next_generation, next_rows, longest FROM ${landing.sql.schemas.account}.streams`,
  )
  return new Map(
    rows.map(([stream, generation, count, nextGeneration, nextRows, longest]) => {
      const next = { generation: Number(nextGeneration), rows: Number(nextRows) }
      const progress = {
        generation: Number(generation ?? -1),
        rows: Number(count ?? 0),
        next: nextGeneration === null ? undefined : next,
        longest: Number(longest ?? 0),
      }
      return [String(stream), progress]
    }),
  )
}

/** The columns of each table, in their order. */
export async function storedColumns({ sql, query }: Landing): Promise<Map<string, Column[]>> {
  const columns = new Map<string, Column[]>()
  const rows = await query(
    `SELECT stream, property, name, type, variant_of FROM ${sql.schemas.account}.columns ORDER BY stream, position`,
  )
  for (const [stream, property, name, type, variantOf] of rows) {
    const column = {
      property: JSON.parse(String(property)) as string,
      name: String(name),
      type: type as ColumnType,
      variantOf: variantOf ?? undefined,
    }
    columns.set(String(stream), [...(columns.get(String(stream)) ?? []), column])
  }
  return columns
}

/** Stores the columns of a table if they have changed. */
export function storeColumns(
  { schemas: { account }, literal }: Dialect,
  { name, columns }: Table,
  before: readonly Column[],
): string[] {
  if (columns.length === before.length) return []
  const stream = literal(name)
  const values = columns.map(({ property, name: column, type, variantOf }, position) =>
    [
      ...[stream, position, literal(JSON.stringify(property)), literal(column), literal(type)],
      variantOf === undefined ? 'NULL' : literal(variantOf),
    ].join(', '),
  )
  return [
    `DELETE FROM ${account}.columns WHERE stream = ${stream}`,
    `INSERT INTO ${account}.columns VALUES (${values.join('), (')})`,
  ]
}

/** The members of open objects in `columns` that only the records of `rows` have; they are stored. */
export async function newMembers(
  landing: Landing,
  { spec, members }: Description,
  columns: readonly Column[],
  rows: AddedRows,
): Promise<OpenMember[]> {
  const { schemas, literal, members: membersAt } = landing.sql
  const objects = openObjects(spec.schema, columns)
  if (objects.length === 0) return []
  const selects = objects.map(
    ({ column, pointer }, i) =>
      `SELECT ${i}, found.member FROM (${membersAt(quoted(column), pointer, rows, MAX_MEMBERS)}) AS found`,
  )
  const rowsOf = await landing.query(selects.join(' UNION ALL '))
  const found = objects.flatMap(({ column, pointer }, i) => {
    const same = members.filter((one) => one.column === column && one.pointer === pointer)
    const known = new Set(same.map(({ member }) => member))
    return rowsOf
      .filter(([object]) => object === String(i))
      .map(([, member]) => ({ column, pointer, member: String(member) }))
      .filter(({ member }) => !known.has(member))
      .slice(0, MAX_MEMBERS - same.length)
  })
  const values = found.map(({ column, pointer, member }) =>
    [spec.name, column, pointer, member].map(literal).join(', '),
  )
  if (values.length > 0)
    await landing.run(`INSERT INTO ${schemas.account}.members VALUES (${values.join('), (')})`)
  return found
}

/** The history of a stream's table; before it has begun, without `members`. */
export function historyOf(
  sql: Dialect,
  stream: string,
  members: ReadonlySet<string> | undefined,
): History {
  const place = closedPlace(sql, stream)
  return { place, hasBegun: members !== undefined, members: members ?? new Set() }
}

/**
 * Throws a config error if the name of a stream is taken in the file; `before` are its known columns.
 */
export function assertNameIsFree(
  { schemas: { tables, flat, history } }: Dialect,
  table: Pick<Table, 'name' | 'history'>,
  before: readonly Column[],
  { present, viewOf, hasOwn }: StoredTables,
): void {
  const { name } = table
  const isNew = before.length === 0
  const hasView = (schema: string) => viewOf(schema, name) !== ''
  const isTaken = (schema: string) =>
    present.inTheWayOf(schema, name) !== undefined ||
    (schema === tables && isNew && present.columnsOf(name) !== undefined) ||
    (schema === flat && isNew && hasView(schema)) ||
    (schema === history && !hasOwn(closedName(name)) && hasView(schema))
  const schema = [tables, flat, ...(table.history === undefined ? [] : [history])].find(isTaken)
  const other = schema && `${schema}.${name}`
  if (other === undefined) return
  throw new ConnectorError(
    'config',
    'name-taken',
    `The warehouse has a table or view ${other} that no sync has created, and the stream ${name} needs this name. Rename or drop it.`,
  )
}

/** The names of columns that exist but were not created by a sync. */
export function othersAmong(
  before: readonly Column[],
  present: ReadonlyMap<string, unknown> = new Map(),
): ReadonlySet<string> {
  const ours = takenNames(before)
  return new Set([...present.keys()].filter((name) => !ours.has(name)))
}

/** Appends the columns that only the new schema has; existing columns keep their position and type. */
export function withNew(
  before: readonly Column[],
  now: readonly Column[],
  others: ReadonlySet<string>,
  limits: Limits,
): Column[] {
  const known = new Set(before.map(({ property }) => property))
  const taken = takenNames(before, others)
  const added = now
    .filter(({ property }) => !known.has(property))
    .map((column) => ({ ...column, name: freeName(column.name, taken, limits) }))
  return [...before, ...added]
}

/**
 * Creates the table of a stream, or adapts that of an earlier sync with the columns `before`. Returns the progress of its
 * rows.
 */
export async function prepareTable(
  landing: Landing,
  table: Table,
  before: readonly Column[],
  damage: Damage,
  { withState, progress, present, hasOwn }: StoredTables,
): Promise<Progress> {
  const { sql } = landing
  const { name } = table
  const waiting = nextOf(sql, table)
  const isDamaged = damage.lost.length > 0 || damage.retyped.length > 0
  const isKnown = before.length > 0
  // Somebody else may have removed what the account says of the table.
  const unknown = { generation: isKnown ? 0 : -1, rows: 0, next: undefined, longest: 0 }
  const stored = progress.get(name) ?? unknown
  const hasNext = hasOwn(nextName(name))
  const goesOn = hasNext && withState.has(name) && !isDamaged && stored.next !== undefined
  const run = async (statements: readonly string[]) => {
    if (statements.length > 0) await landing.run(statements.join(';\n'))
  }
  if (isDamaged) await run(recreate(sql, table, before, damage, present))
  await run(
    isKnown ? alterTable(sql, table.place, before, table.columns) : [createTable(sql, table)],
  )
  if (table.history !== undefined)
    await run(
      hasOwn(closedName(name))
        ? alterTable(sql, table.history.place, before, table.columns)
        : [createTable(sql, { ...table, ...table.history }, 'TABLE', [KNOWN_FROM, KNOWN_UNTIL])],
    )
  await run(storeColumns(sql, table, before))
  if (goesOn) {
    await run(alterTable(sql, waiting.place, before, table.columns))
    if ((await countIn(landing, waiting.place)) === stored.next?.rows)
      return { ...stored, isFilling: false }
  }
  const isSound = !hasNext && stored.next === undefined && !isDamaged
  const isFilling = stored.generation < 0
  if (isSound && !isFilling) return { ...stored, isFilling }
  // Rows of no known generation: no read has followed a repair yet, or somebody else has written them.
  const rows = await countIn(landing, table.place)
  if (isSound && rows === 0) return { ...stored, isFilling }
  // The next read replaces all rows of the table.
  await run([`DROP TABLE IF EXISTS ${waiting.place}`, startOver(sql, name)])
  return { ...stored, generation: 0, rows, next: undefined, isFilling: false }
}

/**
 * Creates what is lost again, and gives columns their types. The stream is then read from the beginning, which replaces
 * all remaining rows.
 */
function recreate(
  sql: Dialect,
  table: Table,
  before: readonly Column[],
  { lost, retyped }: Damage,
  present: PresentTables,
): string[] {
  const alter = `ALTER TABLE ${table.place}`
  const types = typesOf(sql, before)
  // Not of a table that is new in this transaction: an engine may refuse to update one that is published.
  const known = `UPDATE ${table.place} AS old SET ${KNOWN_FROM} = (SELECT owner.moment FROM ${sql.schemas.account}.owner AS owner)
    WHERE old.${KNOWN_FROM} IS NULL`
  return [
    createTable(sql, { ...table, columns: before }),
    ...lost.map(
      (column) => `${alter} ADD COLUMN IF NOT EXISTS ${quoted(column)} ${types.get(column)}`,
    ),
    ...retyped.map((column) => {
      const [name, type] = [quoted(column), types.get(column)]
      return `${alter} ALTER COLUMN ${name} SET DATA TYPE ${type} USING ${sql.retyped(name, String(type))}`
    }),
    ...(present.columnsOf(table.name) === undefined ? [] : [known]),
    ...['streams', 'fields'].map(
      (name) =>
        `DELETE FROM ${sql.schemas.account}.${name} WHERE stream = ${sql.literal(table.name)}`,
    ),
  ]
}

/** The next read of a stream starts over; see `streamsToStartOver`. */
export function startOver({ schemas: { account }, literal }: Dialect, stream: string): string {
  return `UPDATE ${account}.states SET starts_over = true WHERE stream = ${literal(stream)}`
}
