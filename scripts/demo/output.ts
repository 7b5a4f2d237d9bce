import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { packageFolder } from '../../src/ground/project-files.ts'

/** Where the demo leaves its files; the variable DEMO_OUTPUT names another folder. */
export const outputFolder: string =
  process.env['DEMO_OUTPUT'] ?? join(packageFolder(), 'demo-output')

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

/** Lines of aligned columns under a head: columns of numbers to the right, others to the left. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) =>
    Math.max(...[title, ...column(rows, i)].map(({ length }) => length)),
  )
  const isNumeric = head.map((_, i) =>
    column(rows, i).every((cell) => /^(-?[\d,]+(\.\d+)?)?$/.test(cell)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) =>
        isNumeric[i] ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0),
      )
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '-'.repeat(width)).join('  ')
  return [line(head), rule, ...rows.map(line)].join('\n')
}

/** A whole number with thousands apart. */
export function grouped(number: number): string {
  return number.toLocaleString('en')
}

function column(rows: readonly (readonly string[])[], i: number): string[] {
  return rows.map((row) => row[i] ?? '')
}
