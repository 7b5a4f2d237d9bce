import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from './demo/paths.ts'

/** An npm package that the programs need at run time, as package-lock.json has it. */
export interface ProductionPackage {
  /** Where it is installed, relative to the project: `node_modules/ajv`. */
  readonly path: string
  readonly name: string
  readonly version: string
  /** SPDX expression. */
  readonly license: string
  /** Of the archive in the registry, as `sha512-<base64>`. */
  readonly integrity: string
}

interface LockedPackage {
  readonly version: string
  readonly license: string
  readonly integrity: string
  readonly dev?: true
}

/**
 * What `npm ci --omit=dev` installs, ordered by path. `npm sbom --omit dev` would leave out what a
 * development dependency needs, too. Throws when another version is installed than the lock says.
 */
export function productionPackages(): ProductionPackage[] {
  return Object.entries(lockedPackages())
    .filter(([path, { dev }]) => path !== '' && dev === undefined)
    .map(([path]) => lockedPackage(path))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** One package of package-lock.json by its path; throws when it is not installed in that version. */
export function lockedPackage(path: string): ProductionPackage {
  const locked = lockedPackages()[path]
  if (locked === undefined) throw new Error(`package-lock.json has no ${path}.`)
  const { version, license, integrity } = locked
  const installed = readJson(join(path, 'package.json')) as { name: string; version: string }
  if (installed.version !== version)
    throw new Error(
      `${path} is installed as ${installed.version}, package-lock.json has ${version}: run npm ci.`,
    )
  return { path, name: installed.name, version, license, integrity }
}

function lockedPackages(): Readonly<Record<string, LockedPackage>> {
  return (readJson('package-lock.json') as { packages: Record<string, LockedPackage> }).packages
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(join(packageFolder, path), 'utf8'))
}
