import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** Where comments still cite documents that the repository does not have. */
const NOT_YET = ['emulator/', 'src/protocol/', 'src/sync/']

const ABSENT =
  /\b(?:api|design|specification)\.md\b|\bcollections\.json\b|\bdesign (?:D|section )\d+|\(specification, ["]/g
const PRESENT = /\bdocs\/[\w/-]+\.md(?:, "[^"]+")?/g

/** What the tracked files cite by a pattern, as `file: citation`; a citation may span two lines. */
function citations(pattern: RegExp): string[] {
  const files = execFileSync('git', 'ls-files -z *.ts *.mjs *.md *.json *.yml'.split(' '))
  return String(files)
    .split('\0')
    .filter((file) => existsSync(file) && !NOT_YET.some((folder) => file.startsWith(folder)))
    .flatMap((file) => {
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

/** The headings of a document without number and anchor; the empty one stands for all of it. */
function headings(path: string): string[] {
  const lines = readFileSync(path, 'utf8').matchAll(/^#+ (?:[\d.]+ )?(?:<a[^>]*><\/a>)?(.*)$/gm)
  return ['', ...[...lines].map(([, heading = '']) => heading)]
}
