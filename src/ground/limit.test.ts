import { expect, test } from 'vitest'
import { limitOf, limitText, mostOf } from './limit.ts'

test.each([
  ['20%', 300, 60],
  ['20%', 300.5, 60.1],
  ['20%', 7, 5],
  ['0%', 300, 0],
  ['100%', 300, Infinity],
  ['100', 300, 100],
  ['100', 7, 100],
  ['0', 300, 0],
])('%s of %d rows allows %d', (text, rows, most) => {
  expect(mostOf(rows, limitOf(text))).toBeCloseTo(most)
})

test('a limit in words', () => {
  expect(['20%', '100'].map((text) => limitText(limitOf(text)))).toEqual(['20 %', '100'])
})
