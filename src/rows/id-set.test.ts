import { deflateRawSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { seeded } from '../page/testing/generated-body.ts'
import { createIdSet, type Key, keyAt } from './id-set.ts'

const key: fc.Arbitrary<Key> = fc.oneof(
  fc.integer({ min: 0, max: 300 }),
  fc.maxSafeNat(),
  fc.integer({ min: 2 ** 32 - 3, max: 2 ** 32 + 3 }),
  fc.uuid().map((guid) => JSON.stringify(guid)),
  fc.tuple(fc.string(), fc.string()).map((columns) => JSON.stringify(columns)),
)

describe('the key of a record', () => {
  const keyOf = (keyText: string) =>
    keyAt({ keys: Float64Array.of(Number.NaN), keyText: () => keyText }, 0)

  it.each([
    ['a text', '"a-b"', '"a-b"'],
    ['escapes', String.raw`"\u0061\u002Db"`, '"a-b"'],
    ['an escaped slash', String.raw`"a\/b"`, '"a/b"'],
    ['an escaped quote', String.raw`"a\u0022b"`, String.raw`"a\"b"`],
    ['half of a pair', String.raw`"\uD800"`, String.raw`"\ud800"`],
    ['an integer below zero', '-12', '-12'],
    ['an integer that a double cannot represent', '12345678901234567890', '12345678901234567890'],
  ])('is the same however the record has it: %s', (_, keyText, key) => {
    expect(keyOf(keyText)).toBe(key)
  })
})

describe('a set of ids', () => {
  it('contains what a plain set would contain, whatever is added and deleted', () => {
    const step = fc.tuple(fc.constantFrom('add', 'delete'), key)
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const set = createIdSet()
        const plain = new Set<Key>()
        for (const [what, id] of steps) {
          if (what === 'add') {
            set.add(id)
            plain.add(id)
          } else {
            set.delete(id)
            plain.delete(id)
          }
        }
        expect(new Set(set.keys())).toEqual(plain)
        expect(set.size).toBe(plain.size)
        for (const [, id] of steps) expect(set.has(id)).toBe(plain.has(id))
      }),
    )
  })

  it('is the same after encoding and decoding', () => {
    fc.assert(
      fc.property(fc.array(key), (keys) => {
        const set = createIdSet()
        for (const id of keys) set.add(id)
        const back = createIdSet(set.encode())
        expect(new Set(back.keys())).toEqual(new Set(keys))
      }),
    )
  })

  it('accepts batches of integers, and skips keys that are not integers', () => {
    const set = createIdSet()
    set.addIntegers(Float64Array.of(3, Number.NaN, 2 ** 40))
    set.addIntegers(Float64Array.of(1, 2))
    set.addIntegers(Float64Array.of(2 ** 32))
    set.deleteIntegers(Float64Array.of(2, Number.NaN))
    expect(new Set(set.keys())).toEqual(new Set([1, 3, 2 ** 40, 2 ** 32]))
  })

  it('contains what a plain set would contain, whatever batches of integers are added and deleted', () => {
    const start = fc.oneof(fc.nat(60), fc.integer({ min: 2 ** 32 - 60, max: 2 ** 32 + 3 }))
    const range = fc.tuple(start, fc.integer({ min: 1, max: 50 })).map(([first, length]) => {
      return Float64Array.from({ length }, (_, i) => first + i)
    })
    const scattered = fc.array(fc.oneof(start, fc.constant(Number.NaN)), { maxLength: 50 })
    const batch = fc.oneof(
      range,
      scattered.map((keys) => Float64Array.from(keys)),
    )
    const step = fc.tuple(fc.constantFrom('add', 'delete', 'encode'), batch)
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let set = createIdSet()
        const plain = new Set<Key>()
        for (const [what, keys] of steps) {
          if (what === 'add') set.addIntegers(keys)
          else if (what === 'delete') set.deleteIntegers(keys)
          else set = createIdSet(set.encode())
          for (const key of keys) {
            if (what === 'add' && !Number.isNaN(key)) plain.add(key)
            if (what === 'delete') plain.delete(key)
          }
        }
        expect(new Set(set.keys())).toEqual(plain)
        expect(set.size).toBe(plain.size)
      }),
    )
  })

  it('is null if it is empty', () => {
    const set = createIdSet()
    set.add(7)
    set.delete(7)
    expect(set.encode()).toBeNull()
  })

  it('is small for ids that are close together', () => {
    const set = createIdSet()
    set.addIntegers(Float64Array.from({ length: 1_000_000 }, (_, i) => 100_000 + i))
    expect(set.encode()?.length).toBeLessThan(2000)
  })

  it('takes less than 700,000 characters for 200,000 ids scattered over 2^32', () => {
    const set = createIdSet()
    const random = seeded(1)
    // Gaps without a pattern that could be compressed, on average a 200,000th of the range.
    for (let i = 0, id = 0; i < 200_000; i++) {
      id += 1 + random(42_900)
      set.add(id)
    }
    expect(set.encode()?.length).toBeLessThan(700_000)
  })

  it('is refused if it contains more ids than allowed', () => {
    const set = createIdSet()
    set.addIntegers(Float64Array.from({ length: 100_000 }, (_, i) => i))
    set.add(2 ** 40)
    set.add('"a"')
    const encoded = set.encode()
    expect(createIdSet(encoded, 100_002).size).toBe(100_002)
    for (const most of [0, 100_001]) expect(() => createIdSet(encoded, most)).toThrow(/more ids/)
  })

  it('is refused if it decompresses to more than 16 MB, without using more memory than that', () => {
    const bomb = `z${deflateRawSync(Buffer.alloc(150e6)).toString('base64')}`
    const before = process.memoryUsage().rss
    expect(() => createIdSet(bomb)).toThrow()
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6)
  })

  it('decodes gaps without an array of all ids', () => {
    const set = createIdSet()
    const random = seeded(1)
    for (let i = 0, id = 0; i < 200_000; i++) {
      id += 1 + random(42_900)
      set.add(id)
    }
    expect([...createIdSet(set.encode()).keys()]).toEqual([...set.keys()])
  })

  it('is refused when its encoding is damaged', () => {
    expect(() => createIdSet('not an encoding')).toThrow()
    const set = createIdSet()
    set.add(1)
    expect(() => createIdSet((set.encode() ?? '').slice(0, -8))).toThrow()
  })

  it('is refused when it is cut off between two ids', () => {
    const set = createIdSet()
    for (const id of [1, 100_000, 200_000]) set.add(id)
    const bytes = Buffer.from(String(set.encode()).slice(1), 'base64')
    expect(String.fromCharCode(bytes[0] ?? 0)).toBe('g')
    const cut = `r${bytes.subarray(0, 10).toString('base64')}`
    expect(() => createIdSet(cut)).toThrow('the set of ids is cut off')
  })
})
