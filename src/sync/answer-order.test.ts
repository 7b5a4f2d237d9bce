import { describe, expect, it } from 'vitest'
import { DELETE, type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import { type AnswerOrder, BATCH_ORDER, createChangeOrder } from './answer-order.ts'

type Row = readonly [id: number | string, version?: string, op?: number]

function batch(...rows: readonly Row[]): RecordBatch {
  return {
    count: rows.length,
    ops: Uint8Array.from(rows, ([, , op = UPSERT]) => op),
    keys: Float64Array.from(rows, ([id]) => (typeof id === 'number' ? id : Number.NaN)),
    highestVersion: undefined,
    fault: null,
    keyText: (i) => JSON.stringify(rows[i]?.[0]),
    versionText: (i) => rows[i]?.[1],
    record: () => new Uint8Array(),
    received: () => new Uint8Array(),
    lines: () => new Uint8Array(),
  }
}

/** What is written of a batch: the places of its records. */
function left(order: AnswerOrder, ...rows: readonly Row[]): number[] {
  const settled = batch(...rows)
  order.settle(settled)
  return [...settled.ops].flatMap((op, i) => (op === SKIP ? [] : [i]))
}

describe.each([
  ['a batch', () => BATCH_ORDER],
  ['the answer to a delta link', () => createChangeOrder()],
])('of the records of one row in %s', (_, create) => {
  // spec: Conventions: changeVersion
  it('the highest version counts, wherever it stands', () => {
    expect(left(create(), [1, 'B'], [2, 'A'], [1, 'A'])).toEqual([0, 1])
    expect(left(create(), [1, 'A'], [2, 'A'], [1, 'B'])).toEqual([1, 2])
    expect(left(create(), ['x', 'B'], ['y', 'A'], ['x', 'C'], ['x', 'A'])).toEqual([1, 2])
  })

  it('the last one counts of equal versions, and where there is none', () => {
    expect(left(create(), [2, 'A'], [1, 'A'], [2, 'A'])).toEqual([1, 2])
    expect(left(create(), [2], [1], [2])).toEqual([1, 2])
  })

  it('a Delete counts by its place, whatever version it carries', () => {
    expect(left(create(), [1, 'B'], [1, 'A', DELETE])).toEqual([1])
    expect(left(create(), [1, 'B', DELETE], [1, 'A'])).toEqual([1])
    expect(left(create(), [1, 'C'], [1, 'A', DELETE], [1, 'B'])).toEqual([2])
  })
})

it('remembers the versions of an answer over its batches', () => {
  const order = createChangeOrder()
  expect(left(order, [1, 'B'], [2, 'B'])).toEqual([0, 1])
  expect(left(order, [1, 'A'], [2, 'A', DELETE])).toEqual([1])
  expect(left(order, [2, 'A'], [1, 'B'])).toEqual([0, 1])
})

it('goes by the batch alone once an answer has too many rows to remember', () => {
  const order = createChangeOrder(2)
  left(order, [1, 'B'], [2, 'B'], [3, 'B'])
  expect(left(order, [1, 'A'], [2, 'C'], [2, 'A'])).toEqual([0, 1])
})
