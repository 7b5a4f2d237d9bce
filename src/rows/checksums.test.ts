import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createIntegerSum, createTextSum, keyText, textOf, type ValueType } from './checksums.ts'

describe('the sums of the keys of a stream', () => {
  /** The sums that SQL computes, too, and that the tests for SQL read. */
  const VECTORS = JSON.parse(
    readFileSync(new URL('checksum-vectors.json', import.meta.url), 'utf8'),
  ) as {
    readonly integers: readonly { readonly keys: readonly number[]; readonly sum: string }[]
    readonly texts: readonly { readonly texts: readonly string[]; readonly sum: string }[]
    readonly values: readonly {
      readonly type: ValueType
      readonly value: unknown
      readonly text: string
    }[]
  }

  function sumOf(ids: readonly number[]): string {
    const sum = createIntegerSum()
    sum.add(ids)
    return sum.text
  }

  it.each(VECTORS.integers)('sums the integers $keys to $sum', ({ keys, sum }) => {
    expect(sumOf(keys)).toBe(sum)
  })

  it.each(VECTORS.texts)('sums the texts $texts to $sum', ({ texts, sum }) => {
    const added = createTextSum()
    for (const text of texts) added.add(text)
    expect(added.text).toBe(sum)
  })

  it.each(VECTORS.values)('writes $value of the type $type as $text', ({ value, type, text }) => {
    expect(textOf(value, type)).toBe(text)
  })

  it('sums more integers exactly than a double could', () => {
    const [count, id] = [20_000, 9_007_199_254_740_000]
    const rest = BigInt(id % 1_000_003)
    const sum = sumOf(new Array<number>(count).fill(id))
    expect(sum).toBe(`${BigInt(count) * BigInt(id)}:${BigInt(count) * rest * rest}`)
  })

  it('takes the values of a key of several columns one after the other', () => {
    expect([keyText(7), keyText('"a-b"'), keyText('["people","@name","x"]')]).toEqual([
      '7',
      'a-b',
      'people\u001f@name\u001fx',
    ])
  })
})
