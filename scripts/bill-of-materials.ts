import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder, readProjectJson } from '../src/ground/project-files.ts'

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
  readonly dependencies?: Readonly<Record<string, string>>
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

/**
 * The packages in image and wheel: all except ajv and its dependencies, which only the acceptance checks of other
 * connectors need.
 */
export function carriedPackages(): ProductionPackage[] {
  const { dependencies = {} } = lockedPackages()[AJV] ?? {}
  const left = new Set([AJV, ...Object.keys(dependencies).map((name) => `node_modules/${name}`)])
  return productionPackages().filter(({ path }) => !left.has(path))
}

const AJV = 'node_modules/ajv'

/** The client of PostgreSQL with all that it needs: in the wheel and in the image of `protime sync`. */
export function postgresPackages(): ProductionPackage[] {
  const found = new Map<string, ProductionPackage>()
  const add = (name: string) => {
    const path = `node_modules/${name}`
    if (found.has(path)) return
    found.set(path, lockedPackage(path))
    Object.keys(lockedPackages()[path]?.dependencies ?? {}).forEach(add)
  }
  for (const name of ['pg', 'pg-copy-streams']) add(name)
  return [...found.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** The packages in a folder, which has to contain no other than those of package-lock.json. */
function packagesIn(folder: string): ProductionPackage[] {
  const modules = join(folder, 'node_modules')
  const names = readdirSync(modules).flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((one) => `${name}/${one}`) : name,
  )
  const inner = Object.keys(lockedPackages()).filter(
    (path) => path.lastIndexOf('node_modules/') > 0 && existsSync(join(folder, path)),
  )
  return [...names.map((name) => `node_modules/${name}`), ...inner].map((path) =>
    lockedPackage(path, folder),
  )
}

/** One package of package-lock.json by its path; throws when it is not in a folder in that version. */
export function lockedPackage(path: string, folder = packageFolder()): ProductionPackage {
  const locked = lockedPackages()[path]
  if (locked === undefined) throw new Error(`package-lock.json has no ${path}.`)
  const { version, license, integrity } = locked
  const installed = readJson(join(path, 'package.json'), folder) as {
    name: string
    version: string
  }
  if (installed.version !== version)
    throw new Error(
      `${path} is installed as ${installed.version}, package-lock.json has ${version}: run npm ci.`,
    )
  return { path, name: installed.name, version, license, integrity }
}

function lockedPackages(): Readonly<Record<string, LockedPackage>> {
  return (readJson('package-lock.json') as { packages: Record<string, LockedPackage> }).packages
}

function readJson(path: string, folder = packageFolder()): unknown {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}

/**
 * Packages whose code is compiled into files of the project: the runtime and library of AssemblyScript into
 * `dist/*.wasm`, code of ajv into `dist/validators.cjs`.
 */
export function compiledIn() {
  return {
    assemblyScript: lockedPackage('node_modules/assemblyscript'),
    ajv: lockedPackage(AJV),
  } as const
}

/** The bill of materials of what `npm install source-protime` installs. DuckDB is installed only if somebody asks for it. */
export function npmMaterials(): string {
  return billOfMaterials(ownFacts(), [...productionPackages(), compiledIn().assemblyScript])
}

/** The bill of materials of a folder with the programs and their packages: an image, or the wheel. */
export function programMaterials(folder: string): string {
  return billOfMaterials(ownFacts(), [...packagesIn(folder), ...Object.values(compiledIn())])
}

/** The bill of materials of a folder that has nothing but packages: a wheel with DuckDB. */
export function duckDbMaterials(folder: string): string {
  const name = 'source-protime-duckdb'
  const description = 'DuckDB for Node, as source-protime uses it'
  return billOfMaterials({ ...ownFacts(), name, description }, packagesIn(folder))
}

const ownFacts = () => readProjectJson('#package') as Facts

/**
 * A CycloneDX 1.6 document, without a serial number and a time, so that the same contents always result in the same
 * document.
 */
function billOfMaterials(
  { name, version, description, license }: Facts,
  contents: readonly ProductionPackage[],
): string {
  const self = purl(name, version)
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': self,
        name,
        version,
        description,
        licenses: [{ license: { id: license } }],
        purl: self,
      },
    },
    components: contents.map(component),
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

interface Facts {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
}

function component({ name, version, license, integrity }: ProductionPackage): object {
  const [, digest = ''] = /^sha512-(.+)$/.exec(integrity) ?? []
  return {
    type: 'library',
    'bom-ref': purl(name, version),
    name,
    version,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    licenses: [{ license: { id: license } }],
    purl: purl(name, version),
  }
}

function purl(name: string, version: string): string {
  return `pkg:npm/${encodeURIComponent(name).replace('%2F', '/')}@${version}`
}

/** The text of the file NOTICE: the software of others that is shipped, with the texts that its licences require. */
export function notice(): string {
  const { assemblyScript, ajv } = compiledIn()
  const text = (name: string) =>
    readFileSync(join(packageFolder(), assemblyScript.path, name), 'utf8').trim()
  const listed = (packages: readonly ProductionPackage[]) =>
    packages
      .map(({ path, name, version, license }) => `* ${name} ${version}, ${license}, in ${path}`)
      .join('\n')
  return `source-protime is under the MIT License, see LICENSE. It is shipped with software of others.

Image and wheel carry these packages, each with its own licence text; npm installs them, and ${ajv.name} with what it needs:

${listed(carriedPackages())}

For PostgreSQL, the wheel and the image of protime sync carry these, too:

${listed(postgresPackages())}

dist/validators.cjs contains code of ajv ${ajv.version}, which is under the MIT License; the file begins with its text.

dist/scan.wasm and dist/rows.wasm contain the runtime and parts of the library of AssemblyScript ${assemblyScript.version},
which is under the Apache License 2.0. Its notice and its licence follow.

${RULE}
${text('NOTICE')}

${RULE}
${text('LICENSE')}
`
}

const RULE = '-'.repeat(80)

/** `npm run --silent sbom` prints that of the npm package, `npm run --silent sbom -- FOLDER` that of programs in a folder. */
if (process.argv[1] === import.meta.filename) {
  const [, , folder] = process.argv
  process.stdout.write(folder === undefined ? npmMaterials() : programMaterials(folder))
}
