import { mkdir, readdir, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder of the package, the same for sources and compiled files. */
export const packageFolder: string = dirname(createRequire(import.meta.url).resolve('#package'))

/** Where the demo leaves its files; the variable DEMO_OUTPUT names another folder. */
export const outputFolder: string = process.env['DEMO_OUTPUT'] ?? join(packageFolder, 'demo-output')

/** The DuckDB file that the demo fills, and that `npm run ask` reads where no other is named. */
export const warehouseFile: string = join(outputFolder, 'warehouse.duckdb')

/** The dbt project of that warehouse, which `npm run dbt:site` makes. */
export const dbtFolder: string = join(outputFolder, 'dbt')

/** All that a demo writes. */
const MADE: ReadonlySet<string> = new Set([
  'config.json',
  'warehouse.duckdb',
  'warehouse.duckdb.sync',
  'warehouse.duckdb.wal',
])

/**
 * Makes the folder ready for another demo: what an earlier one has left there is told of, then
 * removed. Anything else in the folder stays.
 */
export async function removeLeftovers(
  folder: string,
  tell: (names: readonly string[]) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const names = (await readdir(folder)).filter((name) => MADE.has(name)).toSorted()
  if (names.length === 0) return
  tell(names)
  for (const name of names) await rm(join(folder, name), { recursive: true })
}
