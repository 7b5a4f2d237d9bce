import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { type Column, KNOWN_FROM } from './column.ts'
import type { Dialect, PresentTables } from './landing.ts'

/** The columns of a table that are no longer as a sync has created them, by their names. */
export interface Damage {
  /** Removed, perhaps with the whole table. */
  readonly lost: readonly string[]
  /** Those whose values may have been changed with their type. */
  readonly retyped: readonly string[]
}

/** What somebody else has done to the columns of a table; `before` are the known ones. */
export function damageOf(
  sql: Dialect,
  name: string,
  before: readonly Column[],
  present: PresentTables,
): Damage {
  if (before.length === 0) return { lost: [], retyped: [] }
  const there = present.columnsOf(name)
  const typeNow = (column: string) => there?.get(column.toLowerCase())
  const columns = [...typesOf(sql, before)]
  return {
    lost: columns.flatMap(([column]) => (typeNow(column) === undefined ? [column] : [])),
    retyped: columns.flatMap(([column, type]) =>
      [undefined, type].includes(typeNow(column)) ? [] : [column],
    ),
  }
}

/** The types of all columns that each table has. */
export function typesOf(sql: Dialect, columns: readonly Column[]): Map<string, string> {
  return new Map([
    ...columns.map(({ name, type }) => [name, sql.type(type)] as const),
    [KNOWN_FROM, 'TIMESTAMP WITH TIME ZONE'],
  ])
}

/** The message about a table that somebody else has changed; undefined if nobody has. */
export function warningOfDamage(
  name: string,
  { lost, retyped }: Damage,
  present: PresentTables,
): IdentifiedMessage | undefined {
  const isGone = present.columnsOf(name) === undefined
  const lacks = isGone ? 'its table was dropped' : `its table lacks columns, ${lost.join(', ')}`
  const what = [
    ...(lost.length > 0 ? [lacks] : []),
    ...(retyped.length > 0
      ? [`columns of its table have another type, ${retyped.join(', ')}`]
      : []),
  ]
  if (what.length === 0) return undefined
  return warningOf(
    'table-changed',
    `${name}: ${what.join(', and ')}, though no sync has done that; the stream is read from the beginning.`,
  )
}
