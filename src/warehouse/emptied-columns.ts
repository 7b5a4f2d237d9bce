import { warningOf } from '../ground/message-ids.ts'
import type { Log } from '../protocol/connector.ts'
import type { Landing } from './landing.ts'
import { quoted, type Table } from './sql.ts'

/** A column with no more values than this may lose them by chance. */
const MOST_BY_CHANCE = 5

/** How many rows a table has, and how many values each of its columns. */
interface Values {
  readonly rows: number
  readonly columns: ReadonlyMap<string, number>
}

export async function valuesIn(landing: Landing, { place, columns }: Table): Promise<Values> {
  const names = columns.map((column) => column.name)
  const counts = ['*', ...names.map((column) => `source.${quoted(column)}`)].map(
    (what) => `count(${what})`,
  )
  const [[rows, ...values] = []] = await landing.query(
    `SELECT ${counts.join(', ')} FROM ${place} AS source`,
  )
  return { rows: Number(rows), columns: new Map(names.map((one, i) => [one, Number(values[i])])) }
}

/** Warns of columns in which a complete read has found no value any more. */
export function warnOfEmptied(before: Values, now: Values, stream: string, log: Log): void {
  const emptied = [...before.columns]
    .filter(([name, count]) => count > MOST_BY_CHANCE && now.columns.get(name) === 0)
    .map(([name]) => name)
  if (emptied.length === 0 || now.rows === 0) return
  log.warn(
    warningOf(
      'column-emptied',
      `${stream}: no row has a value any more in ${emptied.join(', ')}. If the service should have these values, the API client may no longer see them: check its rights.`,
    ),
  )
}
