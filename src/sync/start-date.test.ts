import { expect, it } from 'vitest'
import { refuseLateStart } from './days.ts'

const now = new Date('2026-11-20T23:59:00Z')

it.each([undefined, '1970-01-01', '2026-11-18'])('a stream may start on %s', (start) => {
  expect(() => refuseLateStart(start, now)).not.toThrow()
})

it.each(['2026-11-19', '2035-01-01'])('a stream may not start on %s', (start) => {
  expect(() => refuseLateStart(start, now)).toThrow(
    `start_date must be the day before yesterday, 2026-11-18, or earlier; it is ${start}.`,
  )
})
