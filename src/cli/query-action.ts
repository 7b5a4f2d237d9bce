import type { Patience } from '../warehouse/landing.ts'
import { engineOf } from '../warehouse/landings.ts'
import { createPatience } from '../warehouse/patience.ts'
import { type BareTools, EXIT, type ExitCode } from './command.ts'
import { recordTable, widthOf } from './record-table.ts'
import type { StatusOptions } from './status-action.ts'

/** Prints the result of a query on a warehouse. */
export async function query(
  sql: string,
  { warehouse, json = false }: StatusOptions,
  { print, ...tools }: Pick<BareTools, 'log' | 'signal' | 'print'>,
): Promise<ExitCode> {
  const rows = await rowsOf(warehouse, sql, createPatience(0, tools))
  if (json) for (const row of rows) await print(row)
  else if (rows.length > 0) await print(recordTable(rows, widthOf(process.stdout)))
  return EXIT.done
}

async function rowsOf(address: string, sql: string, patience: Patience): Promise<string[]> {
  const landing = await engineOf(address).read(address, patience)
  return landing.jsonRows(sql).finally(() => landing.close())
}
