import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** The folder of the package, the same for sources and compiled files. */
export const packageFolder: string = dirname(createRequire(import.meta.url).resolve('#package'))

/** Where the demo leaves its files; the variable DEMO_OUTPUT names another folder. */
export const outputFolder: string = process.env['DEMO_OUTPUT'] ?? join(packageFolder, 'demo-output')

/** The DuckDB file that the demo fills, and that `npm run ask` reads where no other is named. */
export const warehouseFile: string = join(outputFolder, 'warehouse.duckdb')
