import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parse } from 'yaml'
import { packageFolder, packageVersion } from '../src/ground/project-files.ts'
import { npmMaterials } from './bill-of-materials.ts'
import { inFolder, layOutPackage } from './packages.ts'
import { unpinnedImages, unverifiedPackages } from './pins.ts'

/** One version of the changelog. */
export interface Release {
  readonly version: string
  /** The day of the release, YYYY-MM-DD. */
  readonly date: string
  /** The first paragraph on one line. */
  readonly subject: string
}

/**
 * The versions of CHANGELOG.md, in the order in which they stand there: the newest first. What is not
 * released yet stands above them under `Unreleased`.
 */
export function releasesOf(changelog: string): Release[] {
  const [, ...sections] = changelog.split(/^## (?!Unreleased\n)/m)
  return sections.map((section) => {
    const [, version, date] = /^(\d+\.\d+\.\d+) \((\d{4}-\d\d-\d\d)\)\n/.exec(section) ?? []
    if (version === undefined || date === undefined)
      throw new Error(`CHANGELOG.md: not a version and a date: ${section.split('\n')[0]}`)
    const [, subject = ''] = section.split('\n\n')
    return { version, date, subject: subject.replaceAll('\n', ' ').trim() }
  })
}

/** What CHANGELOG.md says of its newest version, without the heading. */
export function newestNotes(changelog: string): string {
  const [, , section = ''] =
    /^## \d+\.\d+\.\d+ (.*)\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? []
  return section.trim()
}

/** The facts that decide whether a version may be released. */
export interface Candidate {
  readonly version: string
  /** The day of today in UTC, YYYY-MM-DD. */
  readonly today: string
  /** Whether the commit that is checked out is on `origin/main`. */
  readonly isOnMain: boolean
  /** CHANGELOG.md. */
  readonly changelog: string
  /** The output of `git status --porcelain`. */
  readonly uncommitted: string
  /** The commit that is checked out, and the one that the tag of the version names, if there is one. */
  readonly head: string
  readonly tagged: string | undefined
  /** `name@version` of each package whose integrity package-lock.json lacks, and each base image without a digest. */
  readonly unpinned: readonly string[]
}

/** Why the candidate must not be released, one sentence for each reason. */
export function releaseFaults(candidate: Candidate): string[] {
  const { version, changelog, uncommitted, head, tagged, unpinned, today, isOnMain } = candidate
  const [newest] = releasesOf(changelog)
  const [, unreleased = ''] = /^## Unreleased\n([\s\S]*?)(?=^## |(?![\s\S]))/m.exec(changelog) ?? []
  return [
    ...(newest?.version === version
      ? []
      : [
          `package.json has version ${version}, CHANGELOG.md begins with ${newest?.version}: write what is new.`,
        ]),
    ...(unreleased.trim() === ''
      ? []
      : [`CHANGELOG.md has changes under Unreleased: move them to ${version}.`]),
    ...(newest === undefined || newest.date === today
      ? []
      : [`CHANGELOG.md dates ${newest.version} ${newest.date}, and today is ${today} (UTC).`]),
    ...(isOnMain ? [] : [`${head} is not on origin/main: merge it and release from there.`]),
    ...(uncommitted === '' ? [] : [`Commit or remove these first:\n${uncommitted.trimEnd()}`]),
    ...(tagged === undefined || tagged === head
      ? []
      : [`The tag v${version} names another commit: set a new version in package.json.`]),
    ...(unpinned.length === 0
      ? []
      : [
          `${unpinned.length} packages and base images are not pinned: call npm run pin where npm and docker reach their registries (${unpinned.join(', ')}).`,
        ]),
  ]
}

/** An image that the workflow of releases builds and pushes. */
export interface PublishedImage {
  /** With its tag. */
  readonly name: string
  /** The stage of the Dockerfile. */
  readonly target: string
  /** The other settings of the step that pushes it. */
  readonly settings: Readonly<Record<string, unknown>>
}

interface Workflow {
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly Step[] }>>
}

interface Step {
  readonly uses?: string
  readonly with?: Readonly<Record<string, unknown>>
}

/** The images that .github/workflows/release.yml, given as text, publishes of this version. */
export function publishedImages(workflow: string, version: string): PublishedImage[] {
  const { jobs } = parse(workflow) as Workflow
  const steps = Object.values(jobs).flatMap(({ steps = [] }) => steps)
  return steps
    .filter(({ uses }) => uses?.startsWith('docker/build-push-action@'))
    .map(({ with: given = {} }) => {
      const { tags, target, ...settings } = given
      const name = String(tags).replace(/\$\{\{.*?\.version \}\}/, version)
      return { name, target: String(target), settings }
    })
}

const FOLDER = join(packageFolder(), 'release')
const TAG = `v${packageVersion()}`

const OPTIONS = ['--dry-run', '--every-platform']

/**
 * `npm run release`: checks the clone, makes all packages in `release/`, tests them and the images, and pushes the tag of
 * the version, which starts the workflow that publishes. `--dry-run` does everything except the tag; with
 * `--every-platform` DuckDB is packed for all platforms, not only for this one.
 */
function main(args: readonly string[]): void {
  const isDry = args.includes('--dry-run')
  const isForAll = args.includes('--every-platform')
  if (args.some((arg) => !OPTIONS.includes(arg)))
    throw new Error(`The options are ${OPTIONS.join(' and ')}.`)
  judge(isDry)
  tell('Packages')
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  makePackages(isForAll)
  tell('Trials')
  for (const script of ['test:packages', 'test:image']) run('npm', ['run', '--silent', script])
  tell('What is published')
  for (const what of published()) tell(what)
  if (isDry) {
    tell(`Nothing was published. Without --dry-run the tag ${TAG} would be pushed now.`)
    return
  }
  if (commitOf(TAG) === undefined) run('git', ['tag', '--annotate', TAG, '--message', TAG])
  run('git', ['push', 'origin', TAG])
  tell(`${TAG} was pushed: .github/workflows/release.yml publishes it.`)
}

/**
 * Throws an error with everything that is wrong with the clone. A dry run prints it and continues, unless the tag is
 * already set, which means that the workflow publishes this commit.
 */
function judge(isDry: boolean): void {
  const text = (file: string) => readFileSync(join(packageFolder(), file), 'utf8')
  const [head, tagged] = [output('git', ['rev-parse', 'HEAD']).trim(), commitOf(TAG)]
  const faults = releaseFaults({
    version: packageVersion(),
    today: new Date().toISOString().slice(0, 10),
    isOnMain: isOnMain(),
    changelog: text('CHANGELOG.md'),
    uncommitted: output('git', ['status', '--porcelain']),
    head,
    tagged,
    unpinned: [
      ...unverifiedPackages(text('package-lock.json')).map(({ id }) => id),
      ...unpinnedImages(text('Dockerfile')),
    ],
  })
  if (faults.length > 0 && (!isDry || tagged === head)) throw new Error(faults.join('\n'))
  for (const fault of faults) tell(`This could not be released. ${fault}`)
}

/** The npm package, the wheels, the bill of materials, the dbt package and its documentation, the checksums of all, and the notes. */
function makePackages(isForAll: boolean): void {
  // The wheels first: the npm package is of the same build then, and dist/ is left whole.
  const packDuckDb = ['run', '--silent', 'pack:duckdb', '--', ...(isForAll ? OPTIONS.slice(1) : [])]
  for (const args of [['run', '--silent', 'pack:wheel'], packDuckDb]) {
    const wheels = output('npm', args).match(/^\S+\.whl$/gm) ?? []
    for (const wheel of wheels) copyFileSync(wheel, join(FOLDER, basename(wheel)))
  }
  run('npm', ['pack', '--silent', '--pack-destination', FOLDER])
  writeFileSync(join(FOLDER, 'sbom.npm.cdx.json'), npmMaterials())
  inFolder((folder) => {
    layOutPackage(folder, false)
    copyFileSync(join(folder, 'sbom.cdx.json'), join(FOLDER, 'sbom.cdx.json'))
  })
  archiveDbtPackage()
  documentDbtPackage()
  const sums = readdirSync(FOLDER).map((name) => {
    const content = readFileSync(join(FOLDER, name))
    tell(`release/${name}, ${content.length} bytes`)
    return `${createHash('sha256').update(content).digest('hex')}  ${name}\n`
  })
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums.join(''))
  const changelog = readFileSync(join(packageFolder(), 'CHANGELOG.md'), 'utf8')
  writeFileSync(join(FOLDER, 'NOTES.md'), `${newestNotes(changelog)}\n`)
}

/** The file for `tarball:` in packages.yml of a dbt project: the package as it is committed, in a folder. */
function archiveDbtPackage(): void {
  const name = `dbt-protime-${packageVersion()}`
  const file = join(FOLDER, `${name}.tar.gz`)
  const options = ['--format=tar.gz', `--prefix=${name}/`, '--add-file=LICENSE', `--output=${file}`]
  run('git', ['archive', ...options, 'HEAD:dbt'])
}

/** The documentation of the dbt package, one page for a browser, with what it makes of the demo's tenant. */
function documentDbtPackage(): void {
  run('npm', ['run', '--silent', 'demo'])
  const page = output('npm', ['run', '--silent', 'dbt:site']).trim().split('\n').at(-1) ?? ''
  copyFileSync(join(packageFolder(), page), join(FOLDER, `dbt-protime-${packageVersion()}.html`))
}

/** All that the workflow publishes, a line each. */
function published(): string[] {
  const workflow = readFileSync(join(packageFolder(), '.github/workflows/release.yml'), 'utf8')
  const images = publishedImages(workflow, packageVersion())
  return [
    ...readdirSync(FOLDER).map((name) => `release/${name}`),
    ...images.map(
      ({ name, target, settings }) =>
        `image ${name} (stage ${target}, ${settings['platforms']}, SBOM, provenance)`,
    ),
  ]
}

/** Judged by what was fetched from the remote; the workflow fetches everything. */
function isOnMain(): boolean {
  const args = ['merge-base', '--is-ancestor', 'HEAD', 'origin/main']
  return spawnSync('git', args, { cwd: packageFolder() }).status === 0
}

function commitOf(tag: string): string | undefined {
  const args = ['rev-parse', '--quiet', '--verify', `refs/tags/${tag}^{commit}`]
  const { status, stdout } = spawnSync('git', args, { cwd: packageFolder(), encoding: 'utf8' })
  return status === 0 ? stdout.trim() : undefined
}

function run(command: string, args: readonly string[]): void {
  execFileSync(command, args, { cwd: packageFolder(), stdio: 'inherit' })
}

function output(command: string, args: readonly string[]): string {
  const stdio: ['ignore', 'pipe', 'inherit'] = ['ignore', 'pipe', 'inherit']
  return execFileSync(command, args, { cwd: packageFolder(), stdio, encoding: 'utf8' })
}

function tell(text: string): void {
  process.stdout.write(`${text}\n`)
}

if (process.argv[1] === import.meta.filename)
  try {
    main(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exitCode = 1
  }
