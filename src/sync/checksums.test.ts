import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createIntegerSum, createTextSum, keyText, type Sum } from './checksums.ts'

/** The sums that SQL computes too, and the tests of that read. */
const VECTORS = JSON.parse(
  readFileSync(new URL('checksum-vectors.json', import.meta.url), 'utf8'),
) as {
  readonly integers: readonly { readonly keys: readonly number[]; readonly sum: string }[]
  readonly texts: readonly { readonly texts: readonly string[]; readonly sum: string }[]
}

function textOf(sum: Sum, values: readonly (number | string)[]): string {
  for (const value of values) sum.add(value)
  return sum.text
}

it.each(VECTORS.integers)('sums the integers $keys to $sum', ({ keys, sum }) => {
  expect(textOf(createIntegerSum(), keys)).toBe(sum)
})

it.each(VECTORS.texts)('sums the texts $texts to $sum', ({ texts, sum }) => {
  expect(textOf(createTextSum(), texts)).toBe(sum)
})

it('sums more integers exactly than a double could', () => {
  const [count, id] = [20_000, 9_007_199_254_740_000]
  const rest = BigInt(id % 1_000_003)
  const sum = textOf(createIntegerSum(), new Array<number>(count).fill(id))
  expect(sum).toBe(`${BigInt(count) * BigInt(id)}:${BigInt(count) * rest * rest}`)
})

it('takes the values of a key of several columns one after the other', () => {
  expect([keyText(7), keyText('"a-b"'), keyText('["people","@name","x"]')]).toEqual([
    '7',
    'a-b',
    'people\u001f@name\u001fx',
  ])
})
