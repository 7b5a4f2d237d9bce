import { existsSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { output } from '../integration-tests/engines/command.ts'
import { dbtCommand } from '../integration-tests/engines/python.ts'
import { packageFolder } from '../src/ground/project-files.ts'
import { dbtFolder, warehouseFile } from './demo/output.ts'

/**
 * `npm run dbt:site`: builds the models of the dbt package from the demo's warehouse, and documents them in one page.
 * Its last line names the page.
 */
async function site(): Promise<string> {
  if (!existsSync(warehouseFile)) throw new Error('There is no warehouse yet: npm run demo')
  rmSync(dbtFolder, { recursive: true, force: true })
  const init = ['dbt', 'init', '--warehouse', warehouseFile, '--project', dbtFolder]
  await output({
    program: join(packageFolder(), 'bin/protime'),
    args: init,
    folder: packageFolder(),
  })
  for (const words of [['build'], ['docs', 'generate', '--static']])
    process.stdout.write(await output(dbtCommand(dbtFolder, words)))
  return join(dbtFolder, 'target', 'static_index.html')
}

try {
  process.stdout.write(`${relative(packageFolder(), await site())}\n`)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
