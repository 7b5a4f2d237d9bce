import { describe, expect, it } from 'vitest'
import { boundsOf, type Group, rangesOf } from './key-ranges.ts'

const groups = (...pairs: readonly (readonly [number, number])[]): Group[] =>
  pairs.map(([low, high]) => ({ low: BigInt(low), high: BigInt(high) }))

const rising = groups([1, 10], [11, 20], [21, 30], [31, 40])

describe('the keys of two relations are divided', () => {
  it.each<[string, Group[], Group[], number[]]>([
    ['where groups end, if both lie in the order of keys', rising, rising, [10, 20, 30]],
    ['also if the other one has no rows', rising, [], [10, 20, 30]],
    [
      'also if the last rows were added later',
      rising,
      [...rising, ...groups([1, 40])],
      [10, 20, 30],
    ],
    [
      'not if those of the first are in no order',
      groups([1, 37], [2, 38], [1, 39], [1, 40]),
      rising,
      [],
    ],
    [
      'not if those of the other are in no order',
      rising,
      groups([1, 37], [2, 38], [1, 39], [1, 40]),
      [],
    ],
    [
      'not for the sake of a single key that is far from the others',
      groups([1, 37], [2, 38], [1, 39], [1, 900_000]),
      rising,
      [],
    ],
    ['not if there is one group', groups([1, 40]), rising, []],
  ])('%s', (_, one, other, bounds) => {
    expect(boundsOf(one, other)).toEqual(bounds.map(BigInt))
  })

  it('so that each is in one range, also null', () => {
    const ranges = rangesOf([10n, 20n])
    const inRanges = (key: string) =>
      ranges.map((range) => range(key)).filter((range) => isTrue(range))
    for (const key of ['-5', '10', '11', '20', '21', 'null'])
      expect(inRanges(key), key).toHaveLength(1)
    expect(rangesOf([]).map((range) => range('key'))).toEqual(['true'])
  })
})

/** Whether a condition of integers or null is true. */
function isTrue(range: string): boolean {
  const isOne = (text: string): boolean => {
    const [left = '', sign, right = ''] = text.split(' ')
    if (sign === 'IS') return left === 'null'
    if (left === 'null') return false
    return sign === '>' ? Number(left) > Number(right) : Number(left) <= Number(right)
  }
  if (range.includes(' OR ')) return range.slice(1, -1).split(' OR ').some(isOne)
  return range.split(' AND ').every(isOne)
}
