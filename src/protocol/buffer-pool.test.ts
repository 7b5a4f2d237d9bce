import { expect, it } from 'vitest'
import { giveBack, takeBuffer } from './buffer-pool.ts'

it('lends a buffer again once it is given back, and not before', () => {
  const first = takeBuffer(100_000)
  const second = takeBuffer(100_000)
  expect(second.buffer).not.toBe(first.buffer)
  giveBack(first)
  expect(takeBuffer(90_000).buffer).toBe(first.buffer)
})

it('does not lend a buffer twice that is given back twice', () => {
  const buffer = takeBuffer(300_000)
  giveBack(buffer)
  giveBack(buffer)
  expect(takeBuffer(300_000).buffer).not.toBe(takeBuffer(300_000).buffer)
})

it('ignores bytes that it did not lend', () => {
  const foreign = Buffer.alloc(1_000_000)
  giveBack(foreign)
  expect(takeBuffer(1_000_000).buffer).not.toBe(foreign.buffer)
})
