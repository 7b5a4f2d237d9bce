import { DuckDBInstance } from '@duckdb/node-api'
import { readStreamSchema } from '../src/streams/streams.ts'
import { columnsOf } from '../src/warehouse/column-names.ts'
import { duckDbDialect } from '../src/warehouse/duckdb/dialect.ts'

/**
 * Loads clockings with DuckDB's COPY into a table with the same columns as the connector's. The first argument is a file
 * with a record per line, the second the DuckDB file. It is measured, so it loads nothing that COPY does not need.
 */
const [rows = '', file = ''] = process.argv.slice(2)
const columns = columnsOf(readStreamSchema('clockings'), duckDbDialect.limits)
const types = columns.map(({ name, type }) => `"${name}" ${type}`).join(', ')
const instance = await DuckDBInstance.create(file, { threads: '2', memory_limit: '256MB' })
const connection = await instance.connect()
await connection.run(`CREATE TABLE clockings (${types})`)
await connection.run(`COPY clockings FROM '${rows}' (FORMAT json, ARRAY false)`)
connection.closeSync()
instance.closeSync()
