import type { Landing } from '../warehouse/landing.ts'
import { personTables } from './person-tables.ts'

/** Removes the closed versions of rows that were a person's, in any engine. Returns how many there were, by stream. */
export async function forgetVersions(
  landing: Landing,
  id: string,
): Promise<Record<string, number>> {
  const { tables } = await personTables(landing, id)
  const found: Record<string, number> = {}
  for (const { stream, table, isPersons } of tables.filter(
    ({ has }) => has === 'closed versions',
  )) {
    const from = `FROM ${table} AS source WHERE ${isPersons}`
    const [[count] = []] = await landing.query(`SELECT count(*) ${from}`)
    if (count === '0') continue
    await landing.run(`DELETE ${from}`)
    found[stream] = Number(count)
  }
  return found
}
