import { describe, expect, it } from 'vitest'
import { createPageScanner } from '../page/create-page-scanner.ts'
import { DELETE, type RecordBatch, SKIP, SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import {
  type AnswerOrder,
  changedRows,
  createChangeOrder,
  createPageOrder,
} from './row-treatment.ts'
import { batch as batchOf } from './testing/batch.ts'

type Row = readonly [id: number | string, version?: string, op?: number, date?: string]

const batch = (...rows: readonly Row[]): RecordBatch =>
  batchOf(...rows.map(([id, version, kind, date]) => ({ id, version, kind, date })))

it('judges a change by the date that the service sends, although the warehouse gets no date', () => {
  const scanner = createPageScanner(
    { key: 'id', version: 'changeVersion', date: 'date' },
    { rules: { ruleOf: (name) => (name === 'date' ? 'drop' : 'keep'), values: 'keep' } },
  )
  const days = ['2023-12-31', '2024-01-01', '2024-05-31', '2024-06-01']
  const elements = days.map((date, id) => `{"id":${id + 1},"date":"${date}"}`)
  const batch = scanner.push(Buffer.from(`{"value":[${elements.join(',')}]}`))
  const { mark, place } = changedRows('date', '2024-01-01', '2024-06-01')
  mark(batch, [])
  expect([...batch.ops]).toEqual([SOFT_DELETE, UPSERT, UPSERT, UPSERT])
  expect(days.map((_, i) => typeof place === 'function' && place(batch, i))).toEqual([
    'history',
    'history',
    'history',
    'window',
  ])
  expect(Buffer.from(batch.record(0)).toString()).toBe('{"id":1}')
})

it.each([
  ['with an escape in its date', '{"id":1,"date":"\\u0032023-12-31"}'],
  ['with an escape at the end of its date', '{"id":1,"date":"2023-12-3\\u0031"}'],
  ['with an escape in the name', '{"id":1,"d\\u0061te":"2023-12-31"}'],
  ['with spaces', '{ "id" : 1 , "date" : "2023-12-31" }'],
  ['with a date in another object', '{"id":1,"other":{"date":"2024-06-01"},"date":"2023-12-31"}'],
])('finds the date of a record %s', (_, record) => {
  const scanner = createPageScanner({ key: 'id', version: 'changeVersion', date: 'date' })
  const batch = scanner.push(Buffer.from(`{"value":[${record}]}`))
  changedRows('date', '2024-01-01', '2024-06-01').mark(batch, [])
  expect([...batch.ops]).toEqual([SOFT_DELETE])
})

it('finds the day of a time, and counts a record without a date as a late one', () => {
  const scanner = createPageScanner({ key: 'id', version: 'changeVersion', date: 'from' })
  const elements = [
    '{"id":1,"from":"2023-12-31T23:59:59"}',
    '{"id":2,"from":"2024-01-01T00:00:00\\u005a"}',
    '{"id":3,"from":null}',
    '{"id":4,"other":{"from":"2023-12-31"}}',
    '{"id":5,"from":"2023-12-31T00:00:00\\u005a"}',
  ]
  const batch = scanner.push(Buffer.from(`{"value":[${elements.join(',')}]}`))
  const { mark, place } = changedRows('from', '2024-01-01', '2024-01-01')
  expect(mark(batch, [])).toEqual([0, 4])
  expect([...batch.ops]).toEqual([SOFT_DELETE, UPSERT, UPSERT, UPSERT, SOFT_DELETE])
  expect(place).toBe('window')
})

it.each(['""', '" 2026-11-01"', '"01/11/2026"', '"10000-01-01"', '[]'])(
  'keeps a record whose date is %s, as the first read does',
  (date) => {
    const scanner = createPageScanner({ key: 'id', version: 'changeVersion', date: 'date' })
    const batch = scanner.push(Buffer.from(`{"value":[{"id":1,"date":${date}}]}`))
    changedRows('date', '2024-01-01', '2024-01-01').mark(batch, [])
    expect([...batch.ops]).toEqual([UPSERT])
  },
)

it('has all rows of a stream without days in one place, and marks none', () => {
  const { mark, place } = changedRows(undefined, null, null)
  const rows = batch([1], [2, 'A', DELETE])
  mark(rows, [1])
  expect([place, ...rows.ops]).toEqual(['window', UPSERT, DELETE])
})

it('judges a record that the service marks as deleted by its date, too', () => {
  const rows = batch([1, 'A', SOFT_DELETE, '2023-12-31'], [2, 'A', SOFT_DELETE, '2024-01-01'])
  expect(changedRows('date', '2024-01-01', '2024-06-01').mark(rows, [])).toEqual([0])
})

it('marks no record that is not written', () => {
  const rows = batch([1, 'A', SKIP, '2023-12-31'])
  changedRows('date', '2024-01-01', '2024-06-01').mark(rows, [])
  expect([...rows.ops]).toEqual([SKIP])
})

describe('rows of the first phase may have moved after', () => {
  /** Whether that is said of the answer to a delta link; the phase has met the row 7. */
  function hasMoved(rows: RecordBatch, contradicted: readonly number[], isDated: boolean) {
    let moved = false
    const leaving = {
      mayReturn: (key: unknown) => key === 7,
      onLeft() {
        moved = true
      },
    }
    const { mark } = isDated
      ? changedRows('date', '2024-01-01', '2024-06-01', leaving)
      : changedRows(undefined, null, null, leaving)
    mark(rows, contradicted)
    return moved
  }

  it.each<[string, Row[], number[], boolean]>([
    ['nothing', [], [], false],
    ['a contradiction', [], [7], true],
    ['a Delete', [[1, 'A', DELETE]], [], true],
    ['a change of a row that it has met', [[7, 'A', UPSERT, '2024-06-01']], [], true],
    ['a change of another row', [[1, 'A', UPSERT, '2024-06-01']], [], false],
    ['a record that is not written', [[7, 'A', SKIP, '2024-05-31']], [], false],
  ])('%s', (_, rows, contradicted, expected) => {
    expect(hasMoved(batch(...rows), contradicted, true)).toBe(expected)
    expect(hasMoved(batch(...rows), contradicted, false)).toBe(expected)
  })

  it('a change that puts a row before the window', () => {
    expect(hasMoved(batch([1, 'A', UPSERT, '2024-05-31']), [], true)).toBe(true)
  })
})

describe('the rows that count', () => {
  /** The indexes of the records of a batch that are written. */
  function left(order: AnswerOrder, ...rows: readonly Row[]): number[] {
    const settled = batch(...rows)
    order.settle(settled)
    return [...settled.ops].flatMap((op, i) => (op === SKIP ? [] : [i]))
  }

  describe.each([
    ['a batch', () => createPageOrder()],
    ['the answer to a delta link', () => createChangeOrder()],
  ])('of the records of one row in %s', (_, create) => {
    // spec: Conventions: changeVersion
    it('the highest version counts, wherever it is', () => {
      expect(left(create(), [1, 'B'], [2, 'A'], [1, 'A'])).toEqual([0, 1])
      expect(left(create(), [1, 'A'], [2, 'A'], [1, 'B'])).toEqual([1, 2])
      expect(left(create(), ['x', 'B'], ['y', 'A'], ['x', 'C'], ['x', 'A'])).toEqual([1, 2])
    })

    it('of equal versions, or without versions, the last one counts', () => {
      expect(left(create(), [2, 'A'], [1, 'A'], [2, 'A'])).toEqual([1, 2])
      expect(left(create(), [2], [1], [2])).toEqual([1, 2])
    })
  })

  /** What an answer says of the rows of its batches: which records are written, and what it contradicts itself about. */
  function told(...batches: readonly (readonly Row[])[]): readonly [number[], unknown[]][] {
    const order = createChangeOrder()
    return batches.map((rows) => {
      const settled = batch(...rows)
      const contradicted = order.settle(settled)
      return [
        [...settled.ops].flatMap((op, i) => (op === SKIP ? [] : [i])),
        [...new Set(contradicted)],
      ]
    })
  }

  // spec: Conventions: changeVersion
  it.each([
    [
      'an upsert before a Delete',
      [
        [
          [1, 'B'],
          [1, 'A', DELETE],
        ],
      ],
      [[[0], [1]]],
    ],
    [
      'a Delete before an upsert',
      [
        [
          [1, 'B', DELETE],
          [1, 'A'],
        ],
      ],
      [[[1], [1]]],
    ],
    [
      'a Delete between two upserts',
      [
        [
          [1, 'C'],
          [1, 'A', DELETE],
          [1, 'B'],
        ],
      ],
      [[[0], [1]]],
    ],
    [
      'two batches',
      [
        [
          [1, 'B'],
          [2, 'B'],
        ],
        [
          [1, 'A'],
          [2, 'A', DELETE],
        ],
      ],
      [
        [[0, 1], []],
        [[], [2]],
      ],
    ],
    [
      'two batches, the Delete first',
      [[[2, 'A', DELETE]], [[2, 'A']]],
      [
        [[0], []],
        [[0], [2]],
      ],
    ],
    [
      'two Deletes',
      [
        [
          [1, 'A', DELETE],
          [1, 'B', DELETE],
        ],
      ],
      [[[1], []]],
    ],
  ] as const)(
    'of %s the upsert is written, and the row is contradicted',
    (_, batches, expected) => {
      expect(told(...batches)).toEqual(expected)
    },
  )

  it('knows whether the keys have risen over all batches, so that no row can have moved', () => {
    const rising = createPageOrder()
    const answers = [[[1], [4]], [[5]], [[9], [7]], [[10]]] as const
    const seen = answers.map((rows) => {
      rising.settle(batch(...rows))
      return rising.isRising
    })
    expect(seen).toEqual([true, true, false, false])
  })

  it('knows that they have not risen from one batch to the next', () => {
    const order = createPageOrder()
    for (const rows of [[[4]], [], [[2]]] as const) order.settle(batch(...rows))
    expect(order.isRising).toBe(false)
    expect(createChangeOrder().isRising).toBe(false)
  })

  it('contradict nothing in a batch without Deletes', () => {
    const order = createPageOrder()
    expect(order.settle(batch([1, 'A'], [2, 'A']))).toEqual([])
    expect(order.settle(batch([4, 'B'], [4, 'A']))).toEqual([])
  })

  it('looks only at the batch once an answer has too many rows', () => {
    const order = createChangeOrder(2)
    expect(left(order, [1, 'B'], [2, 'B'])).toEqual([0, 1])
    expect(left(order, [1, 'A'], [3, 'B'])).toEqual([1])
    expect(left(order, [1, 'A'], [2, 'C'], [2, 'A'])).toEqual([0, 1])
  })
})
