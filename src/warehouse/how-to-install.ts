import { sep } from 'node:path'
import { packageFolder } from '../ground/project-files.ts'

/** The optional packages of each engine, by the name of the extra that has them. */
const PACKAGES = {
  duckdb: ['@duckdb/node-api'],
  postgres: ['pg', 'pg-copy-streams'],
} as const

/** How to install an engine beside the package of the connector in this folder, for a program with these arguments. */
export function howToInstall(
  engine: keyof typeof PACKAGES,
  folder = packageFolder(),
  argv: readonly string[] = process.argv.slice(2),
): string {
  const packages = PACKAGES[engine]
  if (folder.split(sep).slice(-2).join('/') === 'source_protime/connector')
    return `Run: pip install 'source-protime[${engine}]'`
  if (folder === '/airbyte/integration_code')
    return 'Use the image source-protime/protime-sync, which has it.'
  // In a cache of npx, nothing can be installed beside it.
  if (folder.split(sep).includes('_npx'))
    return `Run: npx -p source-protime ${packages.map((name) => `-p ${name}`).join(' ')} protime ${argv.map(shellWord).join(' ')}`
  return `Run: npm install ${packages.join(' ')}`
}

function shellWord(word: string): string {
  return /^[\w./:=,@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
