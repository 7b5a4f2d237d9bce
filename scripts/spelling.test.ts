import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

/** The words that are accepted everywhere, and those that only tests may write. */
const everywhere = readFileSync('cspell-words.txt', 'utf8').trim().split('\n')
const inTests = (
  JSON.parse(readFileSync('cspell.json', 'utf8')) as { overrides: { words?: string[] }[] }
).overrides.flatMap(({ words = [] }) => words)

it('the accepted words are sorted, and each is in one list', () => {
  expect(everywhere).toEqual(everywhere.toSorted())
  expect(inTests).toEqual(inTests.toSorted())
  expect(inTests.filter((word) => everywhere.includes(word))).toEqual([])
})
