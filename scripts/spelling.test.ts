import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const LISTS = ['cspell.json', 'cspell-words.txt']

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

it('each accepted word is written somewhere', () => {
  const files = String(execFileSync('git', ['ls-files', '-z'])).split('\0')
  const text = files
    .filter((file) => existsSync(file) && !LISTS.includes(file) && file !== 'package-lock.json')
    .map((file) => readFileSync(file, 'utf8').toLowerCase())
    .join('\n')
  expect([...everywhere, ...inTests].filter((word) => !text.includes(word))).toEqual([])
})
