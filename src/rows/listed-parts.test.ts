import { describe, expect, it } from 'vitest'
import type { DayRange } from '../ground/days.ts'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import type { Key } from './id-set.ts'
import { createListedParts, type Fingerprints } from './listed-parts.ts'
import { batch } from './testing/batch.ts'

const CLOCKINGS = streams.get('clockings') as Stream
const PEOPLE = streams.get('people') as Stream

/**
 * Rows such as `1v5/11b`: an id, a version, the month of 2026, and their content. `~` and `-` are before a row that has ended
 * or was deleted.
 */
function rowsFrom(text: string): RecordBatch {
  const rows = [...text.matchAll(/([~-]?)(\d+)(v\d)\/(\d\d|\?)(\w*)/g)].map(
    ([, sign, id, changeVersion, month, content]) => {
      const kind = sign === '~' ? SOFT_DELETE : sign === '-' ? DELETE : UPSERT
      const date = month === '?' ? 'some day' : `2026-${month}-02`
      return { kind, id: Number(id), json: { id: Number(id), changeVersion, date, content } }
    },
  )
  const record = (i: number) => Buffer.from(JSON.stringify(rows[i]?.json))
  return { ...batch(...rows), record }
}

/** The keys of the rows of a batch that are written. */
function written({ ops, keys, count }: RecordBatch): string {
  return Array.from({ length: count }, (_, i) => (ops[i] === SKIP ? [] : [keys[i]]))
    .flat()
    .join(' ')
}

function fingerprintsOf(list: string): Fingerprints {
  const parts = createListedParts(CLOCKINGS)
  parts.begin(null, false)
  parts.note(rowsFrom(list))
  return parts.fingerprints()
}

interface Given {
  /** How the warehouse was seen to have the rows; by default, all of them are known. */
  readonly was: string
  readonly first: string
  /** By default, as the first list. */
  readonly second?: string
  /** Rows that another answer has between the lists. */
  readonly between?: string
  /** Ids that were written since. */
  readonly writtenSince?: readonly number[]
  readonly highestVersion?: string | null
  readonly range?: DayRange
}

/** Which months are written again after two lists, with which rows, and which the warehouse then has as they were listed. */
function compared({ was, first, second = first, between = '', ...given }: Given) {
  const { writtenSince = [], highestVersion = 'v5', range = null } = given
  const known = rowsFrom(was).keys
  const parts = createListedParts(CLOCKINGS)
  parts.begin(range, false, {
    mayHave: (key) => known.includes(key as number),
    wasWritten: (key) => writtenSince.includes(key as number),
    highestVersion,
    watched: new Map(),
  })
  parts.note(rowsFrom(first))
  parts.written(rowsFrom(between))
  const chosen = [...parts.choose(fingerprintsOf(was))].sort().join(' ')
  const again = rowsFrom(second)
  parts.skipOthers(again)
  const has = [...parts.fingerprints().keys()].sort().join(' ')
  const { missing, newer } = {
    missing: parts.confirmed('missing'),
    newer: parts.confirmed('newer'),
  }
  return { chosen, rows: written(again), missing, newer, has }
}

const [OCT, NOV, BOTH] = ['2026-10', '2026-11', '2026-10 2026-11']
const NOTHING = { chosen: '', rows: '', missing: 0, newer: 0 }
const AGAIN = { chosen: NOV, rows: '1', missing: 0, newer: 0, has: NOV }

describe('lists', () => {
  it.each<[string, Given, ReturnType<typeof compared>]>([
    [
      'that are as the warehouse',
      { was: '1v1/11 2v1/10', first: '1v1/11 2v1/10' },
      { ...NOTHING, has: BOTH },
    ],
    [
      'in another order',
      { was: '1v1/11 2v1/11', first: '2v1/11 1v1/11' },
      { ...NOTHING, has: NOV },
    ],
    [
      'with a row that is missing',
      { was: '1v1/11', first: '1v1/11 2v1/11' },
      { ...AGAIN, rows: '1 2', missing: 1 },
    ],
    [
      'with one that is missing in another month',
      { was: '1v1/11', first: '1v1/11 2v1/10' },
      { chosen: OCT, rows: '2', missing: 1, newer: 0, has: BOTH },
    ],
    ['with a newer row', { was: '1v1/11', first: '1v6/11' }, { ...AGAIN, newer: 1 }],
    [
      'with a row that has changed without a newer version',
      { was: '1v1/11', first: '1v5/11' },
      AGAIN,
    ],
    [
      'with a new row while no version is known',
      { was: '1v1/11', first: '1v6/11', highestVersion: null },
      AGAIN,
    ],
    ['with other content', { was: '1v1/11', first: '1v1/11b' }, AGAIN],
    ['that lack a row', { was: '1v1/11 2v1/11', first: '1v1/11' }, AGAIN],
    [
      'with a row that was written since',
      { was: '1v1/11', first: '1v1/11', writtenSince: [1] },
      AGAIN,
    ],
    [
      'with a row that moved to another month',
      { was: '1v1/11 2v1/11 3v1/10', first: '1v1/10 2v1/11 3v1/10' },
      { ...AGAIN, chosen: BOTH, rows: '1 2 3', has: BOTH },
    ],
    [
      'that differ from each other',
      { was: '1v1/11', first: '1v1/11b', second: '1v1/11c' },
      { ...AGAIN, rows: '', has: '' },
    ],
    [
      'of which the second lacks the row',
      { was: '1v1/11', first: '1v1/11 2v1/11', second: '1v1/11' },
      { ...AGAIN, has: '' },
    ],
    [
      'of which the second has one more',
      { was: '1v1/11', first: '1v1/11b', second: '1v1/11b 2v1/11' },
      AGAIN,
    ],
    [
      'of which the second has it in another month',
      { was: '1v1/11', first: '1v1/11b', second: '1v1/10b' },
      { ...AGAIN, rows: '', has: '' },
    ],
    [
      'that have a row twice',
      { was: '1v1/11', first: '1v1/11 1v1/11' },
      { ...AGAIN, rows: '1 1', has: '' },
    ],
    [
      'of which the second has a row twice',
      { was: '1v1/11', first: '1v1/11 2v1/11', second: '2v1/11 1v1/11 2v1/11' },
      { ...AGAIN, rows: '2 1 2', missing: 1 },
    ],
    [
      'with a row that another answer had in between',
      { was: '1v1/11', first: '1v1/11 2v1/11', between: '2v1/11' },
      { ...AGAIN, has: '' },
    ],
    [
      'with a row that another answer has put into another month',
      { was: '1v1/11 2v1/10', first: '1v1/11 2v1/10', between: '1v2/10' },
      { ...NOTHING, has: '' },
    ],
    [
      'with a row that another answer has deleted',
      { was: '1v1/11 2v1/10', first: '1v1/11 2v1/10', between: '-1v2/11' },
      { ...NOTHING, has: OCT },
    ],
    [
      'with a row that has ended',
      { was: '1v1/11 2v1/11', first: '1v1/11 ~2v1/11' },
      { ...AGAIN, rows: '1 2' },
    ],
    [
      'with an ended row that the warehouse does not have',
      { was: '1v1/11', first: '1v1/11 ~2v1/11' },
      { ...NOTHING, has: NOV },
    ],
    ['with a row that has no day', { was: '1v1/?', first: '1v1/?' }, { ...NOTHING, has: 'none' }],
    [
      'with a row of a day that was not asked for',
      { was: '1v1/11', first: '1v1/11 2v1/10', range: { from: '2026-11-01', until: '2026-11-30' } },
      { ...NOTHING, has: NOV },
    ],
    [
      'with a row of the first and last day that were asked for',
      { was: '', first: '1v1/11', range: { from: '2026-11-02', until: '2026-11-02' } },
      { ...AGAIN, missing: 1 },
    ],
    [
      'with a row after the last day that was asked for',
      { was: '', first: '1v1/11', range: { from: '2026-10-02', until: '2026-11-01' } },
      { ...NOTHING, has: '' },
    ],
  ])('%s', (_, given, expected) => {
    expect(compared(given)).toEqual(expected)
  })

  it('of a stream without days have one part, even if it is empty', () => {
    const parts = createListedParts(PEOPLE)
    parts.begin(null, false)
    expect([...parts.fingerprints().keys()]).toEqual(['all'])
  })

  it('show how they have the rows that are watched, and the highest version', () => {
    const parts = createListedParts(CLOCKINGS)
    const watched = new Map<Key, unknown>([
      [1, {}],
      [2, {}],
      [4, {}],
    ])
    const known = { mayHave: () => true, wasWritten: () => false, highestVersion: null, watched }
    parts.begin({ from: '2026-11-01', until: '2026-11-30' }, false, known)
    parts.note(rowsFrom('1v1/11 2v3/10 3v4/11'))
    expect([1, 2, 3, 4].map(parts.listed)).toEqual([
      { version: 'v1', part: '2026-11' },
      { version: 'v3', part: '' },
      undefined,
      undefined,
    ])
    expect([parts.highestListed, parts.range?.from]).toEqual(['v4', '2026-11-01'])
  })

  it.each([
    [
      true,
      [
        { part: '2026-10', records: 1 },
        { part: '2026-11', records: 2 },
      ],
    ],
    [false, []],
  ])('have sums of their rows if these are asked for: %s', (withSums, expected) => {
    const parts = createListedParts(CLOCKINGS)
    parts.begin(null, withSums)
    parts.note(rowsFrom('3v1/10 1v1/11 2v1/11'))
    expect(parts.sums()).toMatchObject(expected)
    expect([...parts.keys()].toSorted()).toEqual([1, 2, 3])
  })

  it('are not noted before they begin, nor after they have ended', () => {
    const parts = createListedParts(CLOCKINGS)
    parts.note(rowsFrom('1v1/11'))
    expect([...parts.fingerprints()]).toEqual([])
    parts.begin(null, false)
    parts.note(rowsFrom('1v1/11'))
    parts.end()
    parts.note(rowsFrom('2v1/11'))
    expect([[...parts.fingerprints()], parts.range]).toEqual([[], null])
  })
})
