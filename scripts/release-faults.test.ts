import { expect, it } from 'vitest'
import { type Candidate, releaseFaults } from './release-faults.ts'

const good: Candidate = {
  version: '1.1.0',
  changelog:
    '# Changelog\n\n## 1.1.0 (2027-02-01)\n\nMore.\n\n## 1.0.0 (2027-01-01)\n\nThe first.\n',
  uncommitted: '',
  head: 'aaaa',
  tagged: undefined,
}

it('a version that the changelog tells of can be released, also where its tag was set already', () => {
  expect(releaseFaults(good)).toEqual([])
  expect(releaseFaults({ ...good, tagged: 'aaaa' })).toEqual([])
})

it('nothing is released that the changelog does not tell of', () => {
  expect(releaseFaults({ ...good, version: '1.2.0' })).toEqual([
    'package.json has version 1.2.0, CHANGELOG.md begins with 1.1.0: write what is new.',
  ])
})

it('nothing is released that is not committed, or whose version was released before', () => {
  expect(releaseFaults({ ...good, uncommitted: ' M README.md\n', tagged: 'bbbb' })).toEqual([
    'Commit or remove these first:\n M README.md',
    'The tag v1.1.0 names another commit: set a new version in package.json.',
  ])
})
