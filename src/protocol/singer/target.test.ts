import { expect, it } from 'vitest'
import { createVersions, type Versions } from './target.ts'

const record = (version?: number) => (versions: Versions) => versions.record('s', version)
const activate = (version: number) => (versions: Versions) => versions.activate('s', version)
const state = (value: object) => (versions: Versions) => versions.state(value)

it.each<[string, ((versions: Versions) => void)[], boolean]>([
  ['its records and then its version', [record(2), record(2), activate(2)], true],
  [
    'the state of another version first',
    [state({ bookmarks: { s: { v: 1 } } }), record(2), activate(2)],
    true,
  ],
  ['its version only behind its records', [record(1), record(2), activate(2)], true],
  ['its version before its records', [activate(2), record(2)], false],
  ['its version at both ends', [activate(2), record(2), activate(2)], true],
  ['its version without records', [activate(2)], false],
  ['records without a version', [record(), activate(2)], false],
  ['records without the end', [record(2)], false],
  ['another reading behind it', [record(2), activate(2), record(3)], false],
  [
    'the rest of a reading',
    [state({ bookmarks: { s: { at: { v: 2 } } } }), record(2), activate(2)],
    false,
  ],
  ['the rest, of a state without bookmarks', [state({ v: '2' }), record(2), activate(2)], false],
])('a stream that sends %s', (_what, steps, isComplete) => {
  const versions = createVersions()
  for (const step of steps) step(versions)
  expect(versions.isComplete('s')).toBe(isComplete)
})
