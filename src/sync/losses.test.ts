import { describe, expect, it, test } from 'vitest'
import { limitOf } from '../ground/limit.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import { excessOf, lossesAt, lossesWith, partsOf } from './losses.ts'
import { STATE } from './stored-state.ts'

const NOW = new Date('2026-11-20T03:00:00Z')
const daysLater = (days: number) => new Date(NOW.getTime() + days * 86_400_000)
const of = (rows: number) => new Map([['', rows]])
const begun = (rows: number) => lossesAt(NOW, null, of(rows))

describe('the rows that may be deleted because no read found them', () => {
  test.each([
    ['20%', 300, 60, true],
    ['20%', 300, 61, false],
    ['20%', 7, 5, true],
    ['20%', 7, 6, false],
    ['100', 300, 100, true],
    ['100', 300, 101, false],
    ['0', 300, 1, false],
    ['0%', 300, 1, false],
    ['100%', 300, 300, true],
  ])('max_missing %s of %d rows: %d are missing', (limit, rows, missing, mayBeDeleted) => {
    const excess = excessOf(begun(rows), of(missing), limitOf(limit))
    expect(excess === undefined).toBe(mayBeDeleted)
  })

  it('are counted in each part of the stream', () => {
    const rows = new Map([
      ['people', 300],
      ['jobs', 308],
    ])
    const limit = limitOf('20%')
    const missing = (people: number, jobs: number) =>
      excessOf(
        lossesAt(NOW, null, rows),
        new Map([
          ['people', people],
          ['jobs', jobs],
        ]),
        limit,
      )
    expect(missing(60, 60)).toBeUndefined()
    expect(missing(61, 0)).toEqual({ part: 'people', missing: 61, rows: 300, deleted: 0 })
  })

  it('are a handful in a part that had no row', () => {
    const none = lossesAt(NOW, null, new Map())
    expect(excessOf(none, of(5), limitOf('20%'))).toBeUndefined()
    expect(excessOf(none, of(6), limitOf('20%'))).toBeDefined()
    expect(excessOf(lossesWith(none, of(5), NOW), of(1), limitOf('20%'))).toBeDefined()
  })

  it('are of the collection of a reference, and otherwise of the whole stream', () => {
    const partOf = partsOf(streams.get('external_references') as Stream)
    expect(partOf?.('["people",7,"payroll"]')).toBe('people')
    expect(partsOf(streams.get('people') as Stream)).toBeUndefined()
  })

  it('add up for thirty days, also if the stream has fewer rows by then', () => {
    const limit = limitOf('20%')
    const left = lossesWith(begun(100), of(12), NOW)
    const later = lossesAt(daysLater(29), left, of(88))
    expect(excessOf(later, of(8), limit)).toBeUndefined()
    expect(excessOf(later, of(9), limit)).toEqual({ part: '', missing: 9, rows: 100, deleted: 12 })
    expect(excessOf(lossesAt(daysLater(30), left, of(88)), of(17), limit)).toBeUndefined()
  })

  it('are no excess if none is missing, although max_missing is lower by now', () => {
    const left = lossesWith(begun(100), of(12), NOW)
    expect(excessOf(left, of(0), limitOf('10'))).toBeUndefined()
    expect(excessOf(left, of(1), limitOf('10'))).toBeDefined()
  })

  it('add up over each thirty days, whenever the first rows were deleted', () => {
    const limit = limitOf('20%')
    const twice = lossesWith(lossesWith(begun(100), of(5), NOW), of(14), daysLater(29))
    const later = lossesAt(daysLater(31), twice, of(81))
    expect(excessOf(later, of(5), limit)).toBeUndefined()
    expect(excessOf(later, of(6), limit)).toEqual({ part: '', missing: 6, rows: 95, deleted: 14 })
  })

  it('are counted anew if the time was that of another clock', () => {
    const ahead = lossesWith(begun(100), of(20), daysLater(400))
    expect(lossesAt(NOW, ahead, of(80))).toEqual(begun(80))
  })

  it('are more if the stream has grown', () => {
    expect(excessOf(lossesAt(NOW, begun(10), of(1000)), of(200), limitOf('20%'))).toBeUndefined()
  })
})

describe('what the state has of them', () => {
  const { read, write } = STATE.fields.losses

  it('is read as it was written', () => {
    for (const losses of [begun(0), lossesWith(begun(100), of(12), NOW)])
      expect(read(write(losses))).toEqual(losses)
    expect(read(write(lossesWith(begun(100), of(0), NOW)))).toEqual(begun(100))
    expect(read(write(null))).toBeNull()
    expect(read('["2026-11-20T03:00:00Z",["",100,12]]')).toBeNull()
  })

  test.each([
    '',
    '7',
    '{}',
    '[7]',
    '[["",-1]]',
    '[[7,1]]',
    '[["",1,["soon",1]]]',
    '[["",1,["2026-11-20",0]]]',
  ])('is refused if it is %j', (text) => {
    expect(read(text)).toBeUndefined()
  })
})
