import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageFolder } from '../src/ground/project-files.ts'

interface Lock {
  readonly packages: Readonly<Record<string, LockedEntry>>
}

interface LockedEntry {
  readonly version?: string
  readonly integrity?: string
  /** A folder of the project, or part of another package's archive: nothing is downloaded. */
  readonly link?: true
  readonly inBundle?: true
}

/** A package of package-lock.json without an integrity: npm would install whatever the registry sends. */
interface Unverified {
  readonly path: string
  /** `name@version`. */
  readonly id: string
}

/** The packages of a lockfile, given as text, that have no integrity. */
export function unverifiedPackages(lock: string): Unverified[] {
  return Object.entries((JSON.parse(lock) as Lock).packages)
    .filter(([path, { integrity, link, inBundle }]) => path && !(integrity || link || inBundle))
    .map(([path, { version }]) => ({
      path,
      id: `${path.split('node_modules/').at(-1)}@${version}`,
    }))
}

/**
 * The lockfile with the integrity of each package that has none and that is known; `integrityOf` answers
 * `sha512-<base64>`, or undefined for one that cannot be found.
 */
export async function withIntegrities(
  text: string,
  integrityOf: (id: string) => Promise<string | undefined>,
): Promise<string> {
  const lock = JSON.parse(text) as Lock
  const packages: Record<string, LockedEntry> = { ...lock.packages }
  for (const { path, id } of unverifiedPackages(text)) {
    const { version, ...rest } = packages[path] ?? {}
    const integrity = await integrityOf(id)
    // In the same place as npm writes it.
    if (version && integrity) packages[path] = { version, integrity, ...rest }
  }
  return `${JSON.stringify({ ...lock, packages }, null, 2)}\n`
}

/** The integrity of one version in npm's registry; undefined if there is none. */
export async function integrityOf(id: string): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', id, 'dist.integrity'])
    return stdout.trim() || undefined
  } catch {
    return undefined
  }
}

const FROM = /^FROM (?:--\S+ )*([^\s$]+)(?: AS (\S+))?$/gm

/** The images of registries that a Dockerfile begins with, as it names them: neither stages nor arguments. */
export function baseImages(dockerfile: string): string[] {
  const all = [...dockerfile.matchAll(FROM)]
  const stages = new Set(['scratch', ...all.map(([, , stage]) => stage)])
  return [...new Set(all.flatMap(([, image = '']) => (stages.has(image) ? [] : image)))]
}

/** The base images without a digest, which a registry may replace by others of the same name. */
export function unpinnedImages(dockerfile: string): string[] {
  return baseImages(dockerfile).filter((image) => !/@sha256:[\da-f]{64}$/.test(image))
}

/** The Dockerfile with the digest of each image behind its name; `digestOf` answers `sha256:<hex>`. */
export async function withDigests(
  dockerfile: string,
  digestOf: (image: string) => Promise<string>,
): Promise<string> {
  let text = dockerfile
  for (const image of unpinnedImages(dockerfile)) {
    const digest = await digestOf(image)
    if (!/^sha256:[\da-f]{64}$/.test(digest)) throw new Error(`${digest} is no digest of ${image}`)
    text = text.replaceAll(new RegExp(`^(FROM .*?)${image}(?=\\s)`, 'gm'), `$1${image}@${digest}`)
  }
  return text
}

/** The digest that an image has at its registry now, for all of its platforms together. */
export async function digestOf(image: string): Promise<string> {
  const words = ['buildx', 'imagetools', 'inspect', image, '--format', '{{json .Manifest.Digest}}']
  const { stdout } = await promisify(execFile)('docker', words)
  return JSON.parse(stdout) as string
}

/**
 * `npm run pin`: adds the integrity of each package and the digest of each base image that has none, so that a release
 * does not have to trust the registries. Existing ones are not changed.
 */
async function main(): Promise<void> {
  const lock = await rewrite('package-lock.json', (text) => withIntegrities(text, integrityOf))
  await rewrite('Dockerfile', (text) => withDigests(text, digestOf))
  const left = unverifiedPackages(lock)
  if (left.length > 0)
    throw new Error(`npm's registry does not know ${left.map(({ id }) => id).join(', ')}.`)
}

async function rewrite(name: string, make: (text: string) => Promise<string>): Promise<string> {
  const file = join(packageFolder(), name)
  const made = await make(readFileSync(file, 'utf8'))
  writeFileSync(file, made)
  return made
}

if (process.argv[1] === import.meta.filename)
  main().catch((error) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  })
