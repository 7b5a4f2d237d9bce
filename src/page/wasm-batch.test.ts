import { expect, it } from 'vitest'
import { highest } from './wasm-batch.ts'

function batchOf(versions: readonly (string | undefined)[]) {
  return { count: versions.length, versionText: (index: number) => versions[index] }
}

// spec: Conventions: changeVersion
// spec: Versioning 2
it.each([
  ['the last of several in order', ['00A', '00B'], '00B'],
  ['the greatest, wherever it stands', ['00C', '00B'], '00C'],
  ['the greatest as text, not as a number', ['9', '10'], '9'],
  ['the one that is there', [undefined, '00A', undefined], '00A'],
  ['none where there is none', [undefined], undefined],
  ['none of no records', [], undefined],
])('the highest version is %s', (_, versions, expected) => {
  expect(highest(batchOf(versions))).toBe(expected)
})
