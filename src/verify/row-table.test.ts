import { describe, expect, it } from 'vitest'
import { keyOf, RowDigest, type RowKey } from './row-digest.ts'
import { RowTable } from './row-table.ts'

/** A row of two fields. */
function rowOf(key: RowKey, ...fields: readonly number[]): RowDigest {
  const row = new RowDigest(2)
  row.clear()
  row.key = key
  for (const [place, value] of fields.entries()) row.set(place, value, value)
  row.high = fields.reduce((sum, value) => sum + value, 0)
  return row
}

describe('a table of rows', () => {
  it('finds each of many rows by its key again, whatever the kind of key', () => {
    const table = new RowTable()
    const keys: RowKey[] = Array.from({ length: 30_000 }, (_, i) =>
      i % 3 === 0 ? `"text-${i}"` : i * (i % 3 === 1 ? 1 : 2 ** 33),
    )
    expect(keys.every((key) => table.add(rowOf(key, 1, 2), 2))).toBe(true)
    expect(keys.map((key) => table.find(key))).toEqual(keys.map((_, i) => i))
    expect(keys.map((_, i) => table.keyOf(i))).toEqual(keys)
    expect([table.find('"text-1"'), table.find(-1), table.find(0.5)]).toEqual([-1, -1, -1])
  })

  it('keeps every row when the last has been added', () => {
    const table = new RowTable()
    const keys = Array.from({ length: 4100 }, (_, i) => i)
    for (const key of keys) table.add(rowOf(key, key % 300, key), 2)
    table.end()
    expect(keys.map((key) => table.find(key))).toEqual(keys)
    expect(keys.every((key) => table.isSame(key, rowOf(key, key % 300, key)))).toBe(true)
    expect(table.changedPlaces(4099, rowOf(4099, 1, 4099), 2)).toEqual([0])
    expect(table.changedPlaces(4099, rowOf(4099, 4099 % 300, 1), 2)).toEqual([1])
    table.meet(4099)
    expect([table.isMet(4099), table.isMet(4098)]).toEqual([true, false])
  })

  it('takes a key once', () => {
    const table = new RowTable()
    expect([table.add(rowOf('"é"', 1), 1), table.add(rowOf('"é"', 2), 1)]).toEqual([true, false])
    expect(table.count).toBe(1)
  })

  it('keeps a key that is longer than the buffers of the others', () => {
    const table = new RowTable()
    const long = JSON.stringify('x'.repeat(3_000_000))
    for (const key of ['"a"', long, '"b"']) table.add(rowOf(key, 1), 1)
    expect([0, 1, 2].map((i) => table.keyOf(i))).toEqual(['"a"', long, '"b"'])
  })

  it('names the fields of a row that are others, those that it cannot have included', () => {
    const table = new RowTable()
    table.add(rowOf(7, 10, 20), 2)
    expect(table.changedPlaces(0, rowOf(7, 10, 21), 2)).toEqual([1])
    expect(table.changedPlaces(0, rowOf(7, 0, 20), 2)).toEqual([0])
    expect(table.changedPlaces(0, rowOf(7, 10, 20, 30), 3)).toEqual([2])
  })

  it('knows which rows another table has as they are, and which neither has', () => {
    const [one, other] = [new RowTable(), new RowTable()]
    for (const key of [1, 2, 3]) one.add(rowOf(key, key), 1)
    other.add(rowOf(1, 1), 1)
    other.add(rowOf(2, 9), 1)
    expect([1, 2, 3, 4].map((key) => one.hasSame(key, other))).toEqual([true, false, false, true])
  })
})

describe('the key of a row', () => {
  it.each([
    [['7'], 7],
    [['"7"'], '"7"'],
    [['-7'], '-7'],
    [['12345678901234567890'], '12345678901234567890'],
    [['"\\u00e9"'], '"é"'],
    [['"a"', '1'], '["a",1]'],
  ])('of %j is %j', (texts, key) => {
    expect(keyOf(texts)).toBe(key)
  })
})
