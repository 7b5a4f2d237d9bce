import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { billOfMaterials, productionPackages } from './bill-of-materials.ts'
import { packageFolder } from './demo/paths.ts'

/** What of the npm package has no use where the connector only runs: the emulator, what judges other connectors, and types. */
const NOT_RUN =
  /^bin\/protime-emulator$|^dist\/emulator\/|^dist\/src\/protocol\/acceptance\/|^dist\/airbyte-message\.cjs$|\.d\.ts$/

/**
 * Lays out below `folder` what image and wheel carry: the files of the npm package (`files` of
 * package.json says which) that are run, the production dependencies and the bill of materials. `dist/` has to
 * be built. The result is the same for everybody: no mode of a file depends on the umask.
 */
export function layOutPackage(folder: string): void {
  for (const path of packedFiles().filter((file) => !NOT_RUN.test(file))) copy(path, folder)
  for (const { path } of productionPackages()) copy(path, folder)
  writeFileSync(join(folder, 'sbom.cdx.json'), billOfMaterials())
  openToAll(folder)
}

function packedFiles(): string[] {
  const list = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: packageFolder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [pack] = JSON.parse(list) as { files: { path: string }[] }[]
  return (pack?.files ?? []).map(({ path }) => path)
}

function copy(path: string, folder: string): void {
  const target = join(folder, path)
  mkdirSync(dirname(target), { recursive: true })
  cpSync(join(packageFolder, path), target, { recursive: true, dereference: true })
}

/** Readable for everybody, writable for the owner alone; what the owner may run, everybody may. */
function openToAll(path: string): void {
  const facts = statSync(path)
  const isFolder = facts.isDirectory()
  chmodSync(path, isFolder || (facts.mode & 0o100) !== 0 ? 0o755 : 0o644)
  if (isFolder) for (const name of readdirSync(path)) openToAll(join(path, name))
}
