import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { packageVersion } from '../src/ground/project-files.ts'
import { INSTALL_GUIDE } from './guide-blocks.ts'
import {
  type Candidate,
  newestNotes,
  publishedImages,
  releaseFaults,
  releasesOf,
} from './release.ts'

it('unreleased changes are not a version', () => {
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

const good: Candidate = {
  version: '1.1.0',
  today: '2027-02-01',
  isOnMain: true,
  changelog:
    '# Changelog\n\n## 1.1.0 (2027-02-01)\n\nMore.\n\n## 1.0.0 (2027-01-01)\n\nThe first.\n',
  uncommitted: '',
  head: 'aaaa',
  tagged: undefined,
  unpinned: [],
}

it('a version in the changelog can be released, even if its tag already exists', () => {
  expect(releaseFaults(good)).toEqual([])
  expect(releaseFaults({ ...good, tagged: 'aaaa' })).toEqual([])
})

it('nothing is released that is missing from the changelog', () => {
  expect(releaseFaults({ ...good, version: '1.2.0' })).toEqual([
    'package.json has version 1.2.0, CHANGELOG.md begins with 1.1.0: write what is new.',
  ])
})

it('nothing is released while changes are listed as unreleased', () => {
  const changelog = good.changelog.replace('## 1.1.0', '## Unreleased\n\n- A point.\n\n## 1.1.0')
  expect(releaseFaults({ ...good, changelog })).toEqual([
    'CHANGELOG.md has changes under Unreleased: move them to 1.1.0.',
  ])
  const empty = good.changelog.replace('## 1.1.0', '## Unreleased\n\n## 1.1.0')
  expect(releaseFaults({ ...good, changelog: empty })).toEqual([])
})

it('nothing is released under the day of another release, or from another branch', () => {
  expect(releaseFaults({ ...good, today: '2027-02-03' })).toEqual([
    'CHANGELOG.md dates 1.1.0 2027-02-01, and today is 2027-02-03 (UTC).',
  ])
  expect(releaseFaults({ ...good, isOnMain: false })).toEqual([
    'aaaa is not on origin/main: merge it and release from there.',
  ])
})

it('the notes of a release are its section of the changelog', () => {
  expect(newestNotes(good.changelog)).toBe('More.')
  expect(
    newestNotes(`# Changelog\n\n## Unreleased\n\n## 1.0.0 (2027-01-01)\n\nThe first.\n\n- A.\n`),
  ).toBe('The first.\n\n- A.')
})

it('nothing is released that is not committed, or whose version was released before', () => {
  expect(releaseFaults({ ...good, uncommitted: ' M README.md\n', tagged: 'bbbb' })).toEqual([
    'Commit or remove these first:\n M README.md',
    'The tag v1.1.0 names another commit: set a new version in package.json.',
  ])
})

it('nothing is released that a registry could replace', () => {
  expect(releaseFaults({ ...good, unpinned: ['native@1.0.0', 'node:24'] })).toEqual([
    '2 packages and base images are not pinned: call npm run pin where npm and docker reach their registries (native@1.0.0, node:24).',
  ])
})

const version = packageVersion()
const images = publishedImages(readFileSync('.github/workflows/release.yml', 'utf8'), version)

it('a release publishes an image to read with, one to write with, and one with DuckDB', () => {
  expect(images.map(({ name, target }) => [name, target])).toEqual([
    [`source-protime/source-protime:${version}`, 'source'],
    [`source-protime/destination-protime:${version}`, 'destination'],
    [`source-protime/protime-sync:${version}`, 'sync'],
  ])
})

it('all are of the same processors, with bill of materials and provenance', () => {
  const [first, ...others] = images.map(({ settings }) => settings)
  expect(first).toMatchObject({
    platforms: 'linux/amd64,linux/arm64',
    provenance: 'mode=max',
    sbom: true,
    outputs: expect.stringMatching(/push=true/),
  })
  for (const other of others) expect(other).toEqual(first)
})

it('each is a stage of the Dockerfile that starts the program of its name', () => {
  const stages = readFileSync('Dockerfile', 'utf8').split(/^FROM .* AS /m)
  for (const { name, target } of images) {
    const stage = stages.find((text) => text.startsWith(`${target}\n`))
    const [, program] = name.split(/[/:]/)
    const words = program === 'protime-sync' ? ['protime', 'sync'] : [program]
    const [first, ...rest] = words
    const entry = [`/airbyte/integration_code/bin/${first}`, ...rest].map((word) => `"${word}"`)
    expect(stage).toContain(`ENTRYPOINT [${entry.join(', ')}]`)
  }
})

it('each is named by the guide for installing, to use and to build', () => {
  const guide = readFileSync(INSTALL_GUIDE, 'utf8')
  for (const { name } of images) {
    expect(guide).toContain(`\`${name.split(':')[0]}`)
    expect(guide).toContain(`--tag ${name} .`)
  }
})
