import { execFileSync, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const MODULE = fileURLToPath(new URL('../dist/src/ground/v8.js', import.meta.url))
const PROTIME = fileURLToPath(new URL('../bin/protime', import.meta.url))

/** Prints how much room V8 has made for objects that live for a moment, where many of them live a moment longer. */
const MEASURE = `
  const some = new Array(50_000)
  for (let i = 0; i < 3_000_000; i++) some[i % some.length] = { text: String(i) }
  const room = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  console.log(room.space_size / 1024 / 1024)`

function roomInMb(preparation: string): number {
  const program = `
    import { getHeapSpaceStatistics } from 'node:v8'
    import { keepHeapSmall } from ${JSON.stringify(MODULE)}
    ${preparation}
    ${MEASURE}`
  const words = ['--input-type=module', '--eval', program]
  return Number(execFileSync(process.execPath, words, { encoding: 'utf8' }))
}

/** The same at the end of a program that finds no configuration. */
function roomAfterInMb(command: string): number {
  const hook = `import { getHeapSpaceStatistics } from 'node:v8'
    process.on('exit', () => {${MEASURE}})`
  const words = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, PROTIME, command]
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  return Number(stdout.trim().split('\n').at(-1))
}

it('a comparison needs little room for short-lived objects', () => {
  expect(roomInMb('keepHeapSmall()')).toBeLessThan(4)
  expect(roomInMb('')).toBeGreaterThan(8)
})

it('so does a sync, whose answers would wait there for a full collection', () => {
  expect(roomAfterInMb('sync')).toBeLessThan(4)
  expect(roomAfterInMb('status')).toBeGreaterThan(8)
})
