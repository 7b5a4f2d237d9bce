import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A part of the specification of the service, as `coverage-rules.json` has it. */
export interface CoverageSection {
  readonly section: string
  readonly rules: readonly CoverageRule[]
}

/** A rule for readers or writers. Tests name it by `// spec: <id>`, unless `notYet` says why there is none. */
export interface CoverageRule {
  readonly id: string
  readonly rule: string
  /** Why no test shows it. */
  readonly notYet?: string
}

/** A test that shows a rule. */
export interface Shown {
  readonly id: string
  readonly file: string
  /** Its title, with those of the blocks around it. */
  readonly title: string
}

/** The tests of a file that name a rule of the specification. */
export function taggedTests(file: string, text: string): Shown[] {
  const shown: Shown[] = []
  let around: { readonly indent: number; readonly title: string }[] = []
  let ids: string[] = []
  for (const [at, { indent, line }] of linesOf(text)) {
    const tag = /^\/\/ spec: (.*)$/.exec(line)
    if (tag !== null) ids.push(tag[1] ?? '')
    else if (/^(it|describe)\b/.test(line)) {
      const title = titleAfter(text.slice(at))
      around = around.filter((block) => block.indent < indent)
      const path = [...around.map((block) => block.title), title].join(' > ')
      shown.push(...ids.map((id) => ({ id, file, title: path })))
      if (line.startsWith('describe')) around.push({ indent, title })
      ids = []
    }
  }
  return shown
}

function linesOf(text: string): Map<number, { readonly indent: number; readonly line: string }> {
  const lines = new Map<number, { indent: number; line: string }>()
  for (const match of text.matchAll(/^( *)(.*)$/gm)) {
    const [, spaces = '', line = ''] = match
    lines.set(match.index, { indent: spaces.length, line })
  }
  return lines
}

/** The title of the test or block that begins here: its first argument, or the one after the rows of `each`. */
function titleAfter(text: string): string {
  const isEach = /^\s*\w+(\.\w+)*\.each\b/.test(text)
  const title = isEach
    ? /\)\(\s*(['"`])((?:\\.|(?!\1).)*)\1/s.exec(text)
    : /\(\s*(['"`])((?:\\.|(?!\1).)*)\1/s.exec(text)
  return title?.[2] ?? ''
}

/** What does not match between rules and tests, one sentence for each fault. */
export function coverageFaults(
  sections: readonly CoverageSection[],
  shown: readonly Shown[],
): string[] {
  const rules = sections.flatMap((section) => section.rules)
  const ids = rules.map(({ id }) => id)
  const tagged = new Set(shown.map(({ id }) => id))
  return [
    ...ids.filter((id, i) => ids.indexOf(id) < i).map((id) => `${id}: it is there twice`),
    ...shown
      .filter(({ id }) => !ids.includes(id))
      .map(({ id, file }) => `${file}: there is no rule "${id}"`),
    ...rules
      .filter(({ id, notYet }) => (notYet === undefined) !== tagged.has(id))
      .map(({ id }) => `${id}: it needs a test or a reason, and not both`),
  ]
}

/** Each rule with the tests that show it, as text. */
export function coverageText(
  sections: readonly CoverageSection[],
  shown: readonly Shown[],
): string {
  const lines = sections.flatMap(({ section, rules }) => [
    section,
    ...rules.flatMap(({ id, rule, notYet }) => [
      `  ${id}: ${rule}`,
      ...(notYet === undefined ? [] : [`    not yet: ${notYet}`]),
      ...shown.filter((test) => test.id === id).map(({ file, title }) => `    ${file} > ${title}`),
    ]),
  ])
  return `${lines.join('\n')}\n`
}

const FOLDERS = ['src', 'emulator', 'integration-tests', 'scripts', 'bench']

/** The rules of the specification, and the tests of the present folder that name them. */
export function readCoverage(): { sections: CoverageSection[]; shown: Shown[] } {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  const tests = files.filter((file) => /\.(test|thorough|nightly)\.ts$/.test(file)).toSorted()
  return {
    sections: JSON.parse(readFileSync('scripts/coverage-rules.json', 'utf8')) as CoverageSection[],
    shown: tests
      .filter((file) => file !== 'scripts/coverage.test.ts')
      .flatMap((file) => taggedTests(file, readFileSync(file, 'utf8'))),
  }
}

/** `npm run coverage`: the rules of the service's specification, and the tests that show each. */
if (process.argv[1] === import.meta.filename) {
  const { sections, shown } = readCoverage()
  process.stdout.write(coverageText(sections, shown))
}
