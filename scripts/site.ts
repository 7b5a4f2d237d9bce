import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, posix } from 'node:path'
import { pythonOf } from '../integration-tests/engines/python.ts'
import { packageFolder, packageVersion } from '../src/ground/project-files.ts'

const REPOSITORY = 'https://github.com/source-protime/source-protime'
const DECISIONS = 'docs/decisions'
const PAGES = join(packageFolder(), 'dist/site/pages')

/** Files outside of `docs/`, with their names on the site. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'dbt/README.md': 'dbt.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'icon.svg': 'icon.svg',
}

/** Every file of the repository that is part of the site, with its place there. */
export function siteFiles(): ReadonlyMap<string, string> {
  const docs = readdirSync(join(packageFolder(), 'docs'), { recursive: true, encoding: 'utf8' })
    .map((name) => `docs/${name.replaceAll('\\', '/')}`)
    .filter((file) => statSync(join(packageFolder(), file)).isFile())
  return new Map([
    ...Object.entries(ELSEWHERE),
    ...docs.map((file) => [file, file.replace('docs/', '')] as const),
  ])
}

/** The list of all decisions, which the repository shows as a folder. */
export function decisionsPage(): string {
  const pages = readdirSync(join(packageFolder(), DECISIONS)).toSorted()
  const items = pages.map((page) => {
    const text = readFileSync(join(packageFolder(), DECISIONS, page), 'utf8')
    const [heading = ''] = text.split('\n')
    return `- [${heading.replace('# ', '')}](${page})`
  })
  return `# Decisions\n\nChoices that a newcomer would question, a page each.\n\n${items.join('\n')}\n`
}

/**
 * A page in the form for the site. Links to pages are changed to their places on the site, and links to other files to
 * the repository at this version. Fences keep only their language; the other words are for tests.
 */
export function sitePage(text: string, file: string, files = siteFiles()): string {
  return text
    .split(/^(```[\s\S]*?^```$)/m)
    .map((part) =>
      part.startsWith('```')
        ? part.replace(/^(```\S*) .*/, '$1')
        : part.replace(/`[^`\n]*`|(\[[^\]]*\]\()([^)\s]+)(?=\))/g, (whole, before, target) =>
            before === undefined ? whole : `${before}${onSite(target, file, files)}`,
          ),
    )
    .join('')
    .replaceAll('<details>', '<details markdown>')
}

function onSite(target: string, file: string, files: ReadonlyMap<string, string>): string {
  if (/^(https?:|#)/.test(target)) return target
  const [path = '', anchor] = target.split('#')
  const suffix = anchor === undefined ? '' : `#${anchor}`
  const meant = posix.join(dirname(file), path).replace(/\/$/, '')
  const from = dirname(files.get(file) ?? '')
  const page = meant === DECISIONS ? 'decisions/index.md' : files.get(meant)
  if (page !== undefined) return `${posix.relative(from, page)}${suffix}`
  // Not changed, so that the build of the site fails.
  if (!existsSync(join(packageFolder(), meant))) return target
  const kind = statSync(join(packageFolder(), meant)).isDirectory() ? 'tree' : 'blob'
  return `${REPOSITORY}/${kind}/v${packageVersion()}/${meant}${suffix}`
}

/** `npm run site`: builds the documentation site in `dist/site/html`; a link or an anchor that leads nowhere fails it. */
function main(): void {
  rmSync(PAGES, { recursive: true, force: true })
  for (const [file, place] of siteFiles()) {
    const source = join(packageFolder(), file)
    if (file.endsWith('.md')) write(place, sitePage(readFileSync(source, 'utf8'), file))
    else copy(source, place)
  }
  write('decisions/index.md', decisionsPage())
  const require = createRequire(import.meta.url)
  copy(require.resolve('@mermaid-js/tiny'), 'mermaid.tiny.js')
  const python = pythonOf('site', join(packageFolder(), 'site/requirements.txt'))
  // Without --quiet, which would hide the warnings from --strict, too.
  const build = ['-m', 'mkdocs', 'build', '--strict', '--config-file', 'site/mkdocs.yml']
  // Turns off an advertisement that the theme prints.
  const env = { ...process.env, NO_MKDOCS_2_WARNING: '1' }
  const { status } = spawnSync(python, build, { cwd: packageFolder(), stdio: 'inherit', env })
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

if (process.argv[1] === import.meta.filename) main()
