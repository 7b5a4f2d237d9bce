import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { packageFolder } from '../src/ground/project-files.ts'
import { billOfMaterials, carriedPackages } from './bill-of-materials.ts'

/** What of the npm package has no use where the connector only runs: the emulator, what judges other connectors, and types. */
const NOT_RUN =
  /^bin\/protime-emulator$|^docs\/|^dist\/emulator\/|^dist\/src\/protocol\/acceptance\/|^dist\/airbyte-message\.cjs$|\.d\.ts$/
/** What of a dependency is for compilers and debuggers. */
const TYPES_ONLY = /\.([cm]?ts|map)$/

/**
 * Lays out below `folder` what image and wheel carry: the files of the npm package (`files` of
 * package.json says which) that are run, the packages that they need and the bill of materials. `dist/` has to
 * be built. The result is the same for everybody: no mode of a file depends on the umask.
 */
export function layOutPackage(folder: string): void {
  for (const path of packedFiles().filter((file) => !NOT_RUN.test(file))) copy(path, folder)
  for (const { path } of carriedPackages()) copy(path, folder)
  writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials())
  openToAll(folder)
}

/**
 * Lays out below `folder` what `protime sync` needs of DuckDB on a platform, such as `linux-x64`. The package of
 * another platform than this one comes from npm's registry, with the integrity that package-lock.json has.
 */
export function layOutDuckDb(folder: string, platform: string): void {
  for (const name of ['@duckdb/node-api', '@duckdb/node-bindings', 'detect-libc'])
    copy(join('node_modules', name), folder)
  const path = `node_modules/@duckdb/node-bindings-${platform}`
  if (existsSync(join(packageFolder(), path))) copy(path, folder)
  else fetchPackage(path, join(folder, path))
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

/** Readable for everybody, writable for the owner alone; what the owner may run, everybody may. */
function openToAll(path: string): void {
  const facts = statSync(path)
  const isFolder = facts.isDirectory()
  chmodSync(path, isFolder || (facts.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (isFolder) for (const name of readdirSync(path)) openToAll(join(path, name))
}

/** `node dist/scripts/package-tree.js FOLDER`, for the Dockerfile. */
if (process.argv[1] === import.meta.filename) {
  const [folder] = process.argv.slice(2)
  if (folder === undefined) throw new Error('Name the folder to lay the package out in.')
  layOutPackage(folder)
}
