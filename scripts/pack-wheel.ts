import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageFolder, packageVersion } from '../src/ground/project-files.ts'
import { pageForPyPi } from './listings.ts'
import { layOutDuckDb, layOutPackage } from './package-tree.ts'

const SOURCES = join(packageFolder(), 'python')

/** The platforms that DuckDB is packed for: the end of the name of its npm package, and what pip calls it. */
const PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': 'manylinux_2_28_x86_64',
  'linux-x64-musl': 'musllinux_1_2_x86_64',
  'linux-arm64': 'manylinux_2_28_aarch64',
  'linux-arm64-musl': 'musllinux_1_2_aarch64',
  'darwin-x64': 'macosx_13_0_x86_64',
  'darwin-arm64': 'macosx_13_0_arm64',
  'win32-x64': 'win_amd64',
  'win32-arm64': 'win_arm64',
}

/**
 * `npm run pack:wheel`: makes the Python wheel of what is built, in `python/dist/`. `npm run pack:duckdb`: makes the wheel
 * with DuckDB for this machine, in `python/duckdb/dist/`; with `--every-platform` one for each platform, from npm's
 * registry. Prints where they are. The same files make the same wheels. Needs `python3` with pip, which fetches the
 * build tool.
 */
function main(): void {
  const { values } = parseArgs({
    options: { duckdb: { type: 'boolean' }, 'every-platform': { type: 'boolean' } },
  })
  const folder = values.duckdb ? join(SOURCES, 'duckdb') : SOURCES
  const target = join(folder, 'dist')
  rmSync(target, { recursive: true, force: true })
  if (!values.duckdb) inFolder((at) => packConnector(at, target))
  else
    for (const platform of values['every-platform'] ? Object.keys(PLATFORMS) : [ownPlatform()])
      inFolder((at) => packDuckDb(platform, at, target))
  for (const wheel of readdirSync(target)) process.stdout.write(`${join(target, wheel)}\n`)
}

function packConnector(folder: string, target: string): void {
  cpSync(join(SOURCES, 'source_protime/__init__.py'), join(folder, 'source_protime/__init__.py'))
  const connector = join(folder, 'connector')
  mkdirSync(connector)
  layOutPackage(connector)
  for (const name of ['LICENSE', 'NOTICE']) cpSync(join(connector, name), join(folder, name))
  const readme = readFileSync(join(packageFolder(), 'README.md'), 'utf8')
  writeFileSync(join(folder, 'README.md'), pageForPyPi(readme, packageVersion()))
  build({ sources: SOURCES, folder, target })
}

function packDuckDb(platform: string, folder: string, target: string): void {
  layOutDuckDb(folder, platform)
  cpSync(join(folder, 'node_modules/@duckdb/node-api/LICENSE'), join(folder, 'LICENSE'))
  const sources = join(SOURCES, 'duckdb')
  cpSync(join(sources, 'hatch_build.py'), join(folder, 'hatch_build.py'))
  build({ sources, folder, target, environment: { WHEEL_PLATFORM: PLATFORMS[platform] ?? '' } })
}

/** What a wheel is made of. */
interface Wheel {
  /** The folder with its `pyproject.toml`. */
  readonly sources: string
  /** The folder with its files. */
  readonly folder: string
  readonly target: string
  readonly environment?: Readonly<Record<string, string>>
}

function build({ sources, folder, target, environment = {} }: Wheel): void {
  const project = readFileSync(join(sources, 'pyproject.toml'), 'utf8')
  writeFileSync(
    join(folder, 'pyproject.toml'),
    project.replace(/(?<=")VERSION(?=")|(?<===)VERSION/g, packageVersion()),
  )
  const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps']
  execFileSync('python3', [...pip, '--wheel-dir', target, folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, ...environment },
  })
}

function ownPlatform(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const isMusl = process.platform === 'linux' && header.glibcVersionRuntime === undefined
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

function inFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'wheel-'))
  try {
    use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

main()
