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
