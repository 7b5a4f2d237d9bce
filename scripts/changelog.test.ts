import { expect, it } from 'vitest'
import { releasesOf } from './changelog.ts'

it('what is not released yet is no version', () => {
  expect(releasesOf('# Changelog\n\n## Unreleased\n\nA point.\n')).toEqual([])
})

it('a changelog is read with its newest version first, by the first paragraph of each', () => {
  const text = `# Changelog\n\nFor people.\n\n## 1.1.0 (2027-02-01)\n\nTwo lines\nof text.\n\n- A point.\n\n## 1.0.0 (2027-01-01)\n\nThe first.\n`
  expect(releasesOf(text)).toEqual([
    { version: '1.1.0', date: '2027-02-01', subject: 'Two lines of text.' },
    { version: '1.0.0', date: '2027-01-01', subject: 'The first.' },
  ])
})

it.each(['1.0.0', 'Next', '1.0.0 (soon)'])(
  'a heading that is no version with a day is refused: %s',
  (heading) => {
    expect(() => releasesOf(`## ${heading}\n\nText.\n`)).toThrow(
      `not a version and a date: ${heading}`,
    )
  },
)
