import { expect, it } from 'vitest'
import { createProgress } from './progress.ts'

/** Adds 1,000 records of clockings at each of the times, in milliseconds. */
function run(isTTY: boolean, times: readonly number[]) {
  const written: string[] = []
  let time = 0
  const output = { isTTY, write: (text: string) => written.push(text) > 0 }
  const progress = createProgress(output, () => time)
  for (time of times) progress.add('clockings', 1000)
  return { written, total: progress.end() }
}

it('writes a plain line every second when nobody can see a line change', () => {
  expect(run(false, [100, 900, 1000, 1500, 2000]).written).toEqual([
    '  clockings 3,000 records, 3,000 in all, 3,000 records/s\n',
    '  clockings 5,000 records, 5,000 in all, 2,500 records/s\n',
  ])
})

it('rewrites one line on a terminal and clears it at the end', () => {
  expect(run(true, [100, 150]).written).toEqual([
    '\r\u001b[K  clockings 1,000 records, 1,000 in all, 10,000 records/s',
    '\r\u001b[K',
  ])
})

it('counts what it was told of', () => {
  expect(run(false, [1, 2, 3]).total).toBe(3000)
})
