import { ConnectorError } from '../../ground/errors.ts'
import type { Dialect } from '../landing.ts'
import type { Connection } from './connection.ts'

/** The numbers of the types whose texts are JSON already: integers, exact and approximate numbers, and JSON. */
const JSON_TYPES: ReadonlySet<number> = new Set([20, 21, 23, 26, 700, 701, 1700, 114, 3802])
const BOOLEAN = 16

/** The rows of a query, each as the JSON text of an object. Throws a config error with PostgreSQL's words if it fails. */
export async function jsonRows(
  connection: Connection,
  { tables, flat }: Dialect['schemas'],
  sql: string,
): Promise<string[]> {
  await connection.query(
    `SET LOCAL search_path = ${flat}, ${tables}, public; SET LOCAL row_security = on`,
  )
  const { rows, fields } = await connection.queryOne(sql).catch((error: Error) => {
    throw new ConnectorError('config', 'query-not-valid', `The query failed. ${error.message}`)
  })
  return rows.map((row) => {
    const members = row.map((value, i) => {
      const { name = '', dataTypeID = 0 } = fields[i] ?? {}
      return `${JSON.stringify(name)}:${value === null ? 'null' : jsonOf(value, dataTypeID)}`
    })
    return `{${members.join(',')}}`
  })
}

function jsonOf(value: string, type: number): string {
  if (type === BOOLEAN) return value === 't' ? 'true' : 'false'
  const isJson = JSON_TYPES.has(type) && !/^-?(NaN|Infinity)$/.test(value)
  return isJson ? value : JSON.stringify(value)
}
