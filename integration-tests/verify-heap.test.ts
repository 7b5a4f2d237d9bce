import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const MODULE = fileURLToPath(new URL('../dist/src/verify/small-heap.js', import.meta.url))

/** How much room V8 has made for objects that live for a moment, where many of them live a moment longer. */
function roomInMb(preparation: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { keepHeapSmall } from ${JSON.stringify(MODULE)}
    ${preparation}
    const some = new Array(50_000)
    for (let i = 0; i < 3_000_000; i++) some[i % some.length] = { text: String(i) }
    const room = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
    console.log(room.space_size / 1024 / 1024)`
  const words = ['--input-type=module', '--eval', program]
  return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }))
}

it('a comparison makes do with little room for objects that live for a moment', () => {
  expect(roomInMb('keepHeapSmall()')).toBeLessThan(4)
  expect(roomInMb('')).toBeGreaterThan(8)
})
