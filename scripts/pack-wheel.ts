import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { packageFolder } from './demo/paths.ts'
import { layOutPackage } from './package-tree.ts'

/**
 * `npm run pack:wheel`: makes the Python wheel of what is built, in `python/dist/`, and prints where it
 * is. The same files make the same wheel. Needs `python3` with pip, which fetches the build tool.
 */
function packWheel(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wheel-'))
  const sources = join(packageFolder, 'python')
  const target = join(sources, 'dist')
  rmSync(target, { recursive: true, force: true })
  try {
    for (const name of ['pyproject.toml', 'README.md', 'source_protime/__init__.py'])
      cpSync(join(sources, name), join(folder, name))
    const connector = join(folder, 'connector')
    mkdirSync(connector)
    layOutPackage(connector)
    for (const name of ['LICENSE', 'NOTICE']) cpSync(join(connector, name), join(folder, name))
    const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps']
    execFileSync('python3', [...pip, '--wheel-dir', target, folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  const [wheel = ''] = readdirSync(target)
  return join(target, wheel)
}

process.stdout.write(`${packWheel()}\n`)
