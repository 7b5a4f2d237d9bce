import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

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
