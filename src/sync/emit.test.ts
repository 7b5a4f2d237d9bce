import { expect, it } from 'vitest'
import { createPageScanner } from '../page/create-page-scanner.ts'
import { SOFT_DELETE, UPSERT } from '../records/record-batch.ts'
import { changedRows } from './emit.ts'

it('judges a change by the day that the service tells, although the warehouse gets no day', () => {
  const scanner = createPageScanner(
    { key: 'id', version: 'changeVersion' },
    { rules: { ruleOf: (name) => (name === 'date' ? 'drop' : 'keep'), values: 'keep' } },
  )
  const days = ['2023-12-31', '2024-01-01', '2024-05-31', '2024-06-01']
  const elements = days.map((date, id) => `{"id":${id + 1},"date":"${date}"}`)
  const batch = scanner.push(Buffer.from(`{"value":[${elements.join(',')}]}`))
  const { mark, place } = changedRows('date', '2024-01-01', '2024-06-01')
  mark?.(batch)
  expect([...batch.ops]).toEqual([SOFT_DELETE, UPSERT, UPSERT, UPSERT])
  const placeOf = typeof place === 'function' ? place(batch) : place
  expect(days.map((_, i) => typeof placeOf === 'function' && placeOf(i))).toEqual([
    'backfill',
    'backfill',
    'backfill',
    'window',
  ])
  expect(Buffer.from(batch.record(0)).toString()).toBe('{"id":1}')
})
