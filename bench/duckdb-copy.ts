import { DuckDBInstance } from '@duckdb/node-api'
import { readStreamSchema } from '../src/streams/streams.ts'
import { columnsOf } from '../src/warehouse/column.ts'

/**
 * Loads clockings by DuckDB's COPY into a table with the columns of ours. Arguments: a file with a record
 * per line, and the DuckDB file.
 */
const [rows = '', file = ''] = process.argv.slice(2)
const columns = columnsOf(readStreamSchema('clockings'))
const types = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ')
const instance = await DuckDBInstance.create(file, { threads: '2', memory_limit: '256MB' })
const connection = await instance.connect()
await connection.run(`CREATE TABLE clockings (${types})`)
await connection.run(`COPY clockings FROM '${rows}' (FORMAT json, ARRAY false)`)
connection.closeSync()
instance.closeSync()
