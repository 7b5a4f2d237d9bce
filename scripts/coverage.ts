/** A row of `docs/coverage.md`: a rule of the specification, and where it is kept and shown. */
export interface CoverageRow {
  readonly id: string
  /** Files as code, or `not yet: ` and the reason. */
  readonly implementedIn: string
  /** `file` > `test name` as code, once or more; empty when it is not yet implemented. */
  readonly shownBy: string
}

/** The text of a file of the project, or undefined when there is none. */
export type ReadFile = (path: string) => string | undefined

/** The rows of all tables of the document, in its order. */
export function coverageRows(markdown: string): CoverageRow[] {
  const lines = markdown.split('\n').filter((line) => /^\| (?!Id \||---)/.test(line))
  return lines.map((line) => {
    const [, id = '', , implementedIn = '', shownBy = ''] = line
      .split(/(?<=^|[^\\])\|/)
      .map((cell) => cell.trim())
    return { id, implementedIn, shownBy }
  })
}

/** What a row claims and the project does not bear out, one sentence a fault. */
export function faultsOf({ id, implementedIn, shownBy }: CoverageRow, read: ReadFile): string[] {
  if (implementedIn.startsWith('not yet')) {
    const isReasoned = /^not yet: \S+ \S+/.test(implementedIn) && shownBy === ''
    return isReasoned ? [] : [`${id}: not yet needs a reason, and no test`]
  }
  const files = codesOf(implementedIn)
  const tests = [...shownBy.matchAll(/`([^`]+)` > `([^`]+)`/g)]
  return [
    ...(files.length === 0 ? [`${id}: names no file`] : []),
    ...(tests.length === 0 || codesOf(shownBy).length !== tests.length * 2
      ? [`${id}: names no test, or not as \`file\` > \`test\``]
      : []),
    ...files.filter((file) => read(file) === undefined).map((file) => `${id}: no file ${file}`),
    ...tests.flatMap(([, file = '', title = '']) => {
      const text = read(file)
      if (text === undefined) return [`${id}: no file ${file}`]
      return hasTest(text, title) ? [] : [`${id}: no test "${title}" in ${file}`]
    }),
  ]
}

/** Whether a test file holds each part of a title (`describe > it`) as the title of a block. */
function hasTest(text: string, title: string): boolean {
  return title.split(' > ').every((part) => {
    const escaped = part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
    return new RegExp(
      `(\\b(it|describe)(\\.concurrent)?\\(|\\]?\\)\\()\\s*(['"\`])${escaped}\\4,`,
    ).test(text)
  })
}

function codesOf(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}
