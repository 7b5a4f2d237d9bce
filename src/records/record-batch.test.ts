import { expect, it } from 'vitest'
import { acquireBuffer, releaseBuffer } from './record-batch.ts'

it('lends a buffer again once it is given back, and not before', () => {
  const first = acquireBuffer(100_000)
  const second = acquireBuffer(100_000)
  expect(second.buffer).not.toBe(first.buffer)
  releaseBuffer(first)
  expect(acquireBuffer(90_000).buffer).toBe(first.buffer)
})

it('does not lend a buffer twice that is given back twice', () => {
  const buffer = acquireBuffer(300_000)
  releaseBuffer(buffer)
  releaseBuffer(buffer)
  expect(acquireBuffer(300_000).buffer).not.toBe(acquireBuffer(300_000).buffer)
})

it('ignores bytes that it did not lend', () => {
  const foreign = Buffer.alloc(1_000_000)
  releaseBuffer(foreign)
  expect(acquireBuffer(1_000_000).buffer).not.toBe(foreign.buffer)
})
