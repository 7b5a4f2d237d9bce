import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { packageFolder, packageVersion } from '../src/ground/project-files.ts'
import {
  carriedPackages,
  duckDbMaterials,
  postgresPackages,
  programMaterials,
} from './bill-of-materials.ts'

/** Files of the npm package that image and wheel do without: the checks of other connectors, and types. */
const NOT_RUN = /^docs\/|^dist\/src\/protocol\/acceptance\/|^dist\/airbyte-message\.cjs$|\.d\.ts$/
/** The emulator, which the wheel has for people without a tenant. */
const EMULATOR = /^bin\/protime-emulator$|^dist\/emulator\//
/** Files of a dependency that only compilers and debuggers read. */
const TYPES_ONLY = /\.([cm]?ts|map)$/

/**
 * Copies into `folder` what image and wheel contain: the files of the npm package (`files` of package.json) that are
 * needed to run it, the packages that they need, and the bill of materials. `dist/` has to be built. The modes of the
 * files do not depend on the umask. A wheel also has the emulator, and the client of PostgreSQL, which is small.
 */
export function layOutPackage(folder: string, isWheel: boolean): void {
  const files = packedFiles().filter((file) => !NOT_RUN.test(file))
  for (const path of files.filter((file) => isWheel || !EMULATOR.test(file))) copy(path, folder)
  for (const { path } of carriedPackages()) copy(path, folder)
  if (isWheel) for (const { path } of postgresPackages()) copy(path, folder)
  writeFileSync(join(folder, 'sbom.cdx.json'), programMaterials(folder))
  openToAll(folder)
}

/**
 * Copies into `folder` what `protime sync` needs of DuckDB on a platform, such as `linux-x64`. The package of a platform
 * other than this one is downloaded from npm's registry and has to have the integrity that package-lock.json names.
 */
export function layOutDuckDb(folder: string, platform: string): void {
  for (const name of ['@duckdb/node-api', '@duckdb/node-bindings', 'detect-libc'])
    copy(join('node_modules', name), folder)
  const path = `node_modules/@duckdb/node-bindings-${platform}`
  if (existsSync(join(packageFolder(), path))) copy(path, folder)
  else fetchPackage(path, join(folder, path))
  writeFileSync(join(folder, 'sbom.cdx.json'), duckDbMaterials(folder))
  openToAll(folder)
}

/** Copies into `folder` what `protime sync` needs of PostgreSQL's client, which is the same for every platform. */
export function layOutPostgres(folder: string): void {
  for (const { path } of postgresPackages()) copy(path, folder)
  openToAll(folder)
}

function fetchPackage(path: string, folder: string): void {
  const lock = JSON.parse(readFileSync(join(packageFolder(), 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, { version: string; integrity?: string }>>
  }
  const { version, integrity } = lock.packages[path] ?? {}
  const id = `${path.replace('node_modules/', '')}@${version}`
  mkdirSync(folder, { recursive: true })
  const args = ['pack', id, '--json', '--ignore-scripts', '--pack-destination', folder]
  const [packed] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' })) as {
    readonly filename: string
    readonly integrity: string
  }[]
  if (integrity === undefined || packed?.integrity !== integrity)
    throw new Error(`package-lock.json does not verify ${id}: call npm run pin.`)
  const archive = join(folder, packed.filename)
  execFileSync('tar', ['-xzf', archive, '--strip-components', '1', '-C', folder])
  rmSync(archive)
}

function packedFiles(): string[] {
  const list = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: packageFolder(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [pack] = JSON.parse(list) as { files: { path: string }[] }[]
  return (pack?.files ?? []).map(({ path }) => path)
}

function copy(path: string, folder: string): void {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true })
  const filter = (source: string) => !TYPES_ONLY.test(source)
  cpSync(join(packageFolder(), path), target, { recursive: true, dereference: true, filter })
}

/** Makes a tree readable for everybody and writable for its owner; what the owner may execute, everybody may. */
function openToAll(path: string): void {
  const facts = statSync(path)
  const isFolder = facts.isDirectory()
  chmodSync(path, isFolder || (facts.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (isFolder) for (const name of readdirSync(path)) openToAll(join(path, name))
}

const SOURCES = join(packageFolder(), 'python')

/** The platforms of the DuckDB wheels: the suffix of the npm package, and the platform tag of pip. */
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
 * `npm run pack:wheel` makes the Python wheel of what is built, in `python/dist/`. `npm run pack:duckdb` makes the wheel
 * with DuckDB for this machine, in `python/duckdb/dist/`; with `--every-platform` one for each platform. Prints the
 * paths of the wheels. The same files result in the same wheels. Needs `python3` with pip, which downloads the build
 * tool.
 */
function makeWheels(isDuckDb: boolean, platforms: readonly string[]): void {
  const folder = isDuckDb ? join(SOURCES, 'duckdb') : SOURCES
  const target = join(folder, 'dist')
  rmSync(target, { recursive: true, force: true })
  if (!isDuckDb) inFolder((at) => packConnector(at, target))
  else for (const platform of platforms) inFolder((at) => packDuckDb(platform, at, target))
  for (const wheel of readdirSync(target)) process.stdout.write(`${join(target, wheel)}\n`)
}

function packConnector(folder: string, target: string): void {
  cpSync(join(SOURCES, 'source_protime/__init__.py'), join(folder, 'source_protime/__init__.py'))
  const connector = join(folder, 'connector')
  mkdirSync(connector)
  layOutPackage(connector, true)
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

/** README.md for PyPI, which has no other file of the repository: its links lead to the files of this version on GitHub. */
function pageForPyPi(readme: string, version: string): string {
  const repository = 'source-protime/source-protime'
  const raw = `https://raw.githubusercontent.com/${repository}/v${version}/`
  const page = `https://github.com/${repository}/blob/v${version}/`
  return readme
    .replaceAll(/(!\[[^\]]*\]\()(?!https:)/g, `$1${raw}`)
    .replaceAll(/(?<!!)(\[[^\]]*\]\()(?!https:|#)/g, `$1${page}`)
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

export function ownPlatform(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const isMusl = process.platform === 'linux' && header.glibcVersionRuntime === undefined
  return `${process.platform}-${process.arch}${isMusl ? '-musl' : ''}`
}

/** Uses a temporary folder. */
export function inFolder(use: (folder: string) => void): void {
  const folder = mkdtempSync(join(tmpdir(), 'wheel-'))
  try {
    use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `node dist/scripts/packages.js tree FOLDER` and `postgres FOLDER`, for the Dockerfile; `wheel` and `duckdb` are described at `makeWheels`. */
function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'every-platform': { type: 'boolean' } },
  })
  const [kind, folder] = positionals
  if (kind === 'tree' && folder !== undefined) layOutPackage(folder, false)
  else if (kind === 'postgres' && folder !== undefined) layOutPostgres(folder)
  else if (kind === 'wheel') makeWheels(false, [])
  else if (kind === 'duckdb')
    makeWheels(true, values['every-platform'] ? Object.keys(PLATFORMS) : [ownPlatform()])
  else throw new Error('Name what to make: tree FOLDER, postgres FOLDER, wheel, or duckdb.')
}

if (process.argv[1] === import.meta.filename) main()
