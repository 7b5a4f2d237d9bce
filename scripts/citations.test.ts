import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const ABSENT =
  /\b(?:api|design|specification)\.md\b|\bcollections\.json\b|\bdesign (?:D|section )\d+|\(specification, ["]/g
const PRESENT = /\bdocs\/[\w/-]+\.md(?:, "[^"]+")?/g

/** The tracked files whose names match. */
function tracked(...patterns: readonly string[]): string[] {
  const files = String(execFileSync('git', ['ls-files', '-z', ...patterns])).split('\0')
  return files.filter(existsSync)
}

/** What the tracked files cite by a pattern, as `file: citation`; a citation may span two lines. */
function citations(pattern: RegExp): string[] {
  return tracked('*.ts', '*.mjs', '*.md', '*.json', '*.yml').flatMap((file) => {
    const text = readFileSync(file, 'utf8').replace(/\n\s*(?:\*|\/\/)?\s*/g, ' ')
    return [...text.matchAll(pattern)].map(([found]) => `${file}: ${found}`)
  })
}

it('no file cites a document that the repository does not have', () => {
  expect(citations(ABSENT)).toEqual([])
})

it('every document and section that a file cites exists', () => {
  const wrong = citations(PRESENT).filter((citation) => {
    const [, path = '', , section = ''] = /: (docs\/[^,]+)(, "([^"]+)")?$/.exec(citation) ?? []
    return !existsSync(path) || !headings(path).includes(section)
  })
  expect(wrong).toEqual([])
})

it('every source file that a document names exists', () => {
  const sources = tracked('*.ts', '*.mjs').map((file) => `/${file}`)
  const named = tracked('*.md').flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/`([\w/.-]+\.(?:ts|mjs))`/g)].map(([, file]) => ({
      page,
      file,
    })),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(
    named.filter(({ file }) => !sources.some((source) => source.endsWith(`/${file}`))),
  ).toEqual([])
})

/** The headings of a document without number and anchor; the empty one stands for all of it. */
function headings(path: string): string[] {
  const lines = readFileSync(path, 'utf8').matchAll(/^#+ (?:[\d.]+ )?(?:<a[^>]*><\/a>)?(.*)$/gm)
  return ['', ...[...lines].map(([, heading = '']) => heading)]
}
