import { expect, it } from 'vitest'
import { createCircleCheck } from './circle-check.ts'

/** How many links it takes to notice a chain that enters a circle after some links. */
function noticedAfter(before: number, length: number): number {
  const isCircle = createCircleCheck('0')
  for (let i = 1; ; i++) {
    if (isCircle(String(i < before ? i : before + ((i - before) % length)))) return i
  }
}

it('a link to its own page is noticed at once, however late it comes', () => {
  expect([noticedAfter(0, 1), noticedAfter(1, 1), noticedAfter(1000, 1)]).toEqual([1, 2, 1001])
})

it.each([
  [0, 2],
  [0, 3],
  [5, 7],
  [1000, 2],
  [3, 1000],
])('a circle behind %d links, of %d, is noticed after a few rounds', (before, length) => {
  expect(noticedAfter(before, length)).toBeLessThanOrEqual(3 * (before + length))
})

it('a chain without a circle continues', () => {
  const isCircle = createCircleCheck('0')
  const noticed = Array.from({ length: 100_000 }, (_, i) => isCircle(String(i + 1)))
  expect(noticed).not.toContain(true)
})
