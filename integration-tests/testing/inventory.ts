import type { DuckDBConnection } from '@duckdb/node-api'
import type { JsonSchema } from '../../src/records/stream-spec.ts'
import type { Stream } from '../../src/streams/collections.ts'
import { keyOf, readStreamSchema, streams } from '../../src/streams/streams.ts'
import { askOf } from './protime.ts'

type Row = Readonly<Record<string, unknown>>

/**
 * Where the tables of a warehouse are not as its inventory says, in words: the sums are computed by SQL, as a user
 * would. What the inventory does not vouch for is left out.
 */
export async function inventoryDifferences(connection: DuckDBConnection): Promise<string[]> {
  const ask = askOf(connection)
  const inventory = await ask('SELECT * FROM main.inventory WHERE "isComplete"')
  const found: string[] = []
  for (const level of ['keys', 'rows'])
    for (const stream of new Set(
      inventory.filter((row) => row['level'] === level).map((row) => String(row['stream'])),
    )) {
      const told = inventory.filter((row) => row['level'] === level && row['stream'] === stream)
      const held = await sumsHeld(stream, told[0] as Row, ask)
      const parts = new Set([...told, ...held].map((row) => String(row['part'])))
      for (const part of parts) {
        const [here, there] = [held, told].map((rows) => rows.find((row) => row['part'] === part))
        for (const name of level === 'keys' ? KEYS : ROWS)
          if (String(here?.[name] ?? EMPTY[name]) !== String(there?.[name] ?? EMPTY[name]))
            found.push(
              `${stream} ${part}: ${name} are ${here?.[name]} in the table and ${there?.[name]} in the inventory`,
            )
      }
    }
  return found
}

const KEYS = ['records', 'keys']
const ROWS = [...KEYS, 'versions', 'content']
const EMPTY: Row = { records: 0, keys: '0:0', versions: '0:0', content: '0:0' }

/** Counts and sums of the parts of a table, of the days that were listed. */
async function sumsHeld(
  name: string,
  { level, from, until }: Row,
  ask: (sql: string) => Promise<Row[]>,
): Promise<Row[]> {
  const stream = streams.get(name)
  if (stream === undefined) throw new Error(`the inventory has a stream ${name}`)
  const columns = await ask(
    `SELECT column_name AS name FROM duckdb_columns() WHERE schema_name = 'main' AND table_name = '${name}'`,
  )
  if (columns.length === 0) return []
  const has = (column: string) => columns.some((row) => row['name'] === column)
  const key = keyOf(stream).map((column) => `CAST("${column}" AS VARCHAR)`)
  const version = [...key, ...(stream.versioned === false ? [] : [`coalesce("changeVersion", '')`])]
  const content = [...version, ...valuesOf(stream, has)]
  const day = stream.dateField
  const isByMonth = level === 'rows' && day !== undefined
  const part = isByMonth ? `coalesce(substr(CAST("${day}" AS VARCHAR), 1, 7), 'none')` : `'all'`
  const isInteger = name !== 'activity_definitions' && key.length === 1
  const living = [
    ...(isByMonth && from !== null ? [`("${day}" IS NULL OR "${day}" >= '${from}')`] : []),
    ...(isByMonth && until !== null ? [`("${day}" IS NULL OR "${day}" <= '${until}')`] : []),
  ]
  return ask(`SELECT ${part} AS part, count(*) AS records,
    ${isInteger ? sum('id', '(id % 1000003) * (id % 1000003)') : digests(key)} AS keys,
    ${level === 'keys' ? 'NULL' : digests(version)} AS versions,
    ${level === 'keys' ? 'NULL' : digests(content)} AS content
    FROM main."${name}" ${living.length === 0 ? '' : `WHERE ${living.join(' AND ')}`} GROUP BY 1`)
}

function sum(first: string, second: string): string {
  return `sum(${first}) || ':' || sum(${second})`
}

function digests(texts: readonly string[]): string {
  const half = (at: number) =>
    `CAST('0x' || substr(md5(${texts.join(' || chr(31) || ')}), ${at}, 8) AS BIGINT)`
  return sum(half(1), half(9))
}

/** The texts of the single values, by SQL over the columns as they are. */
function valuesOf(stream: Stream, has: (column: string) => boolean): string[] {
  const { properties } = readStreamSchema(stream.stream)
  const own = [...keyOf(stream), 'changeVersion']
  const found = new Map<string, string[]>()
  for (const [column, schema] of Object.entries(properties)) {
    if (own.includes(column)) continue
    for (const { path, value } of leaves(column, schema, [])) {
      const name = path.toLowerCase()
      found.set(name, [...(found.get(name) ?? []), has(nameOf(column)) ? value : 'NULL'])
    }
  }
  return [...found.values()].map((values) => `coalesce(${values.join(', ')}, chr(30))`)

  /** What a column does not hold stands beside it. */
  function wholeOf(column: string): string {
    if (!has(`${column}_json`)) return `"${column}"`
    return `coalesce(CAST("${column}" AS VARCHAR), "${column}_json"->>'$')`
  }

  /** A column that differs from another by case only has a number. */
  function nameOf(column: string): string {
    const same = Object.keys(properties).filter(
      (name) => name.toLowerCase() === column.toLowerCase(),
    )
    const place = same.indexOf(column)
    return place > 0 ? `${column}_${place}` : column
  }

  function leaves(column: string, schema: JsonSchema, path: readonly string[]): Leaf[] {
    if (schema.properties !== undefined)
      return Object.entries(schema.properties).flatMap(([name, inner]) =>
        leaves(column, inner, [...path, name]),
      )
    const source =
      path.length === 0 ? wholeOf(nameOf(column)) : `("${nameOf(column)}"->>'$.${path.join('.')}')`
    const value = textOf(source, schema)
    return value === undefined ? [] : [{ path: [column, ...path].join('.'), value }]
  }
}

interface Leaf {
  readonly path: string
  readonly value: string
}

/** How a number is written. */
const NUMBER = '-?[0-9]{1,200}([.][0-9]+)?([eE][+-]?[0-9]{1,2})?'

function textOf(value: string, schema: JsonSchema): string | undefined {
  const types = [schema['type']].flat().filter((type) => type !== 'null')
  if (types.includes('object') || types.includes('array')) return undefined
  if (types.includes('number')) {
    const number = `TRY_CAST(${value} AS DOUBLE)`
    const isNumber = `regexp_full_match(CAST(${value} AS VARCHAR), '${NUMBER}') AND abs(${number}) <= 9007199254`
    return `CASE WHEN ${isNumber} THEN CAST(CAST(floor(${number} * 1000000 + 0.5) AS BIGINT) AS VARCHAR) END`
  }
  if (schema['x-view'] === 'date' || schema['format'] === 'date')
    return `substr(CAST(${value} AS VARCHAR), 1, 10)`
  return `CAST(${value} AS VARCHAR)`
}
