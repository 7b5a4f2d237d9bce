import { releasesOf } from './changelog.ts'

/** What a release is judged by before anything is built. */
export interface Candidate {
  readonly version: string
  /** CHANGELOG.md. */
  readonly changelog: string
  /** The output of `git status --porcelain`. */
  readonly uncommitted: string
  /** The commit that is checked out, and the one that the tag of the version names, if there is one. */
  readonly head: string
  readonly tagged: string | undefined
}

/** Why this must not be released, a sentence each. */
export function releaseFaults(candidate: Candidate): string[] {
  const { version, changelog, uncommitted, head, tagged } = candidate
  const newest = releasesOf(changelog)[0]?.version
  return [
    ...(newest === version
      ? []
      : [
          `package.json has version ${version}, CHANGELOG.md begins with ${newest}: write what is new.`,
        ]),
    ...(uncommitted === '' ? [] : [`Commit or remove these first:\n${uncommitted.trimEnd()}`]),
    ...(tagged === undefined || tagged === head
      ? []
      : [`The tag v${version} names another commit: set a new version in package.json.`]),
  ]
}
