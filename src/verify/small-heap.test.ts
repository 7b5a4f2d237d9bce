import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createCollector } from './small-heap.ts'

it('what has been read is given back after some thousand rows', async () => {
  const collect = createCollector()
  const read = new WeakRef(Array.from({ length: 1000 }, (_, i) => ({ i })))
  // What a turn has seen lives until its end.
  await turn()
  collect(4096)
  collect(4096)
  expect(read.deref()).toBeUndefined()
})
