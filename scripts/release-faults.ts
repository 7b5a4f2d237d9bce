import { parse } from 'yaml'

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

/** What a release is judged by before anything is built. */
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

/** Why this must not be released, a sentence each. */
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
  /** What else the step that pushes it is given. */
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
