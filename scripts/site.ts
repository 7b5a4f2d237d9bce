import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pythonOf } from '../integration-tests/engines/python.ts'
import { packageFolder } from './demo/paths.ts'
import { decisionsPage, siteFiles, sitePage } from './site-pages.ts'

const PAGES = join(packageFolder, 'dist/site/pages')

/** `npm run site`: builds the documentation site in `dist/site/html`; a link or an anchor that leads nowhere fails it. */
function main(): void {
  rmSync(PAGES, { recursive: true, force: true })
  for (const [file, place] of siteFiles()) {
    const source = join(packageFolder, file)
    if (file.endsWith('.md')) write(place, sitePage(readFileSync(source, 'utf8'), file))
    else copy(source, place)
  }
  write('decisions/index.md', decisionsPage())
  const require = createRequire(import.meta.url)
  copy(require.resolve('@mermaid-js/tiny'), 'mermaid.tiny.js')
  const python = pythonOf('site', join(packageFolder, 'site/requirements.txt'))
  // Not --quiet: it would hide the warnings from --strict, too.
  const build = ['-m', 'mkdocs', 'build', '--strict', '--config-file', 'site/mkdocs.yml']
  // The theme's makers advertise their next program.
  const env = { ...process.env, NO_MKDOCS_2_WARNING: '1' }
  const { status } = spawnSync(python, build, { cwd: packageFolder, stdio: 'inherit', env })
  process.exitCode = status ?? 1
}

function write(place: string, text: string): void {
  mkdirSync(dirname(join(PAGES, place)), { recursive: true })
  writeFileSync(join(PAGES, place), text)
}

function copy(source: string, place: string): void {
  mkdirSync(dirname(join(PAGES, place)), { recursive: true })
  copyFileSync(source, join(PAGES, place))
}

main()
