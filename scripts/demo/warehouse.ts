import { existsSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { output } from '../../integration-tests/engines/command.ts'
import { dbtCommand } from '../../integration-tests/engines/python.ts'
import { isTemporary } from '../../src/ground/private-file.ts'
import { packageFolder } from '../../src/ground/project-files.ts'

/** Where the demo writes its files; the variable DEMO_OUTPUT names another folder. */
export const outputFolder: string =
  process.env['DEMO_OUTPUT'] ?? join(packageFolder(), 'demo-output')

/** The DuckDB file that the demo fills, and that `npm run ask` reads if no other file is named. */
export const warehouseFile: string = join(outputFolder, 'warehouse.duckdb')

/** The dbt project of this file, which `npm run dbt:site` creates. */
const dbtFolder: string = join(outputFolder, 'dbt')

/** Everything that a demo writes. */
const MADE: ReadonlySet<string> = new Set([
  'config.json',
  'warehouse.duckdb',
  'warehouse.duckdb.wal',
])

/**
 * Prepares the folder for another demo: reports the files that an earlier one has left, then removes them. Anything
 * else in the folder stays.
 */
export async function removeLeftovers(
  folder: string,
  tell: (names: readonly string[]) => void,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const names = (await readdir(folder))
    .filter((name) => MADE.has(name) || isTemporary(name, 'warehouse.duckdb'))
    .toSorted()
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

/** A whole number with separators between the thousands: `1,300`. */
export function grouped(number: number): string {
  return number.toLocaleString('en')
}

function column(rows: readonly (readonly string[])[], i: number): string[] {
  return rows.map((row) => row[i] ?? '')
}

/** `npm run ask -- SQL [FILE]`: asks a DuckDB file a question and returns the answer as a table. */
async function ask([sql, file = warehouseFile]: readonly string[]): Promise<string> {
  if (sql === undefined)
    throw new Error('Give a question in SQL: npm run ask -- "SHOW TABLES" [file]')
  if (file === warehouseFile) requireWarehouse()
  if (!existsSync(file)) throw new Error(`There is no file ${file}`)
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' })
  const connection = await instance.connect()
  try {
    const reader = await connection.runAndReadAll(sql)
    return table(
      reader.columnNames(),
      reader.getRowsJson().map((row) => row.map(cell)),
    )
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

function cell(value: unknown): string {
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/**
 * `npm run dbt:site`: builds the models of the dbt package from the demo's warehouse, and a page that documents them.
 * Returns the path of the page, which is the last line that the command prints.
 */
async function buildDbtSite(): Promise<string> {
  requireWarehouse()
  await rm(dbtFolder, { recursive: true, force: true })
  const init = ['dbt', 'init', '--warehouse', warehouseFile, '--project', dbtFolder]
  await output({
    program: join(packageFolder(), 'bin/protime'),
    args: init,
    folder: packageFolder(),
  })
  for (const words of [['build'], ['docs', 'generate', '--static']])
    process.stdout.write(await output(dbtCommand(dbtFolder, words)))
  return relative(packageFolder(), join(dbtFolder, 'target', 'static_index.html'))
}

function requireWarehouse(): void {
  if (!existsSync(warehouseFile)) throw new Error('There is no warehouse yet: npm run demo')
}

if (process.argv[1] === import.meta.filename)
  try {
    const [command, ...words] = process.argv.slice(2)
    process.stdout.write(`${await (command === 'ask' ? ask(words) : buildDbtSite())}\n`)
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
