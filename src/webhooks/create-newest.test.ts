import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createNewest } from './create-newest.ts'

describe('the newest version of a record', () => {
  // spec: Events 3
  // spec: Events 4
  it('is known whatever the order of deliveries, and only once', () => {
    const newest = createNewest()
    const delivered = ['v3', 'v1', 'v2', 'v3', 'v4']
    expect(delivered.filter((version) => newest('people', 7, version))).toEqual(['v3', 'v4'])
  })

  it('is that of one record of one collection, whose id may be written as text', () => {
    const newest = createNewest()
    expect(newest('people', 7, 'v2')).toBe(true)
    expect(newest('people', '7', 'v1')).toBe(false)
    expect(newest('people', 8, 'v1')).toBe(true)
    expect(newest('breaks', 7, 'v1')).toBe(true)
  })

  it('is the greatest text by code units, as the service orders them', () => {
    const versions = fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 })
    fc.assert(
      fc.property(versions, (delivered) => {
        const newest = createNewest()
        const kept = delivered.filter((version) => newest('people', 7, version))
        expect(kept.at(-1)).toBe(delivered.toSorted().at(-1))
        expect(kept).toEqual([...new Set(kept)].toSorted())
      }),
    )
  })

  it('is forgotten first of the record that was not asked about for longest', () => {
    const newest = createNewest({ capacity: 2 })
    newest('people', 1, 'v2')
    newest('people', 2, 'v2')
    newest('people', 1, 'v1')
    newest('people', 3, 'v2')
    expect(newest('people', 1, 'v2')).toBe(false)
    expect(newest('people', 2, 'v1')).toBe(true)
  })

  it('needs room for one record', () => {
    expect(() => createNewest({ capacity: 0 })).toThrow(RangeError)
  })
})
