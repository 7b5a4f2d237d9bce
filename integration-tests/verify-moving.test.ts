import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator/emulator.ts'
import { DAY_MS, runSettings } from './histories/property.ts'
import { temporaryFolder } from './testing/files.ts'
import { protime, verify, withDuckDb } from './testing/protime.ts'

const STREAMS = ['clockings', 'jobs', 'people', 'sectors', 'external_references']
/** Streams whose rows a sync leaves alone unless a delta tells of them. */
const WATCHED = ['clockings', 'jobs', 'people']

const stories = fc.record({
  seed: fc.nat(1_000_000),
  /** After how many requests something changes again. */
  pause: fc.integer({ min: 1, max: 6 }),
  damages: fc.uniqueArray(
    fc.record({ stream: fc.constantFrom(...WATCHED), row: fc.nat(2), isRemoved: fc.boolean() }),
    { maxLength: 3, selector: ({ stream, row }) => `${stream} ${row}` },
  ),
})

/** Changes of every kind; a record that changes each time, and one that lives until the next change. */
function changing(emulator: Emulator, seed: number): () => void {
  const last = Number(emulator.all('jobs').at(-1)?.['id'])
  let passing: number | undefined
  let count = 0
  return () => {
    count++
    emulator.randomChanges({
      inserts: 3,
      updates: 3,
      deletes: 1,
      softDeletes: 1,
      seed: seed + count,
    })
    if (emulator.all('jobs').some(({ id }) => id === last))
      emulator.update('jobs', last, { name: { default: `Job ${count}` } })
    if (passing !== undefined && emulator.all('jobs').some(({ id }) => id === passing))
      emulator.remove('jobs', passing)
    passing = Number(emulator.insert('jobs')['id'])
  }
}

it('--sync finds the same differences while the service changes as once it stands still', {
  timeout: DAY_MS,
}, async () => {
  const { runs } = runSettings(2)
  await fc.assert(
    fc.asyncProperty(stories, async ({ seed, pause, damages }) => {
      const emulator = await startEmulator({ people: 4, months: 1, seed: (seed % 5) + 1 })
      const folder = temporaryFolder()
      try {
        const config = join(folder.path, 'config.json')
        const warehouse = join(folder.path, 'w.duckdb')
        const settings = { ...emulator.config(), streams: STREAMS }
        writeFileSync(config, JSON.stringify(settings), { mode: 0o600 })
        const words = ['--quiet', '--config', config, '--warehouse', warehouse]
        await protime('sync', ...words)
        await withDuckDb(warehouse, async (connection) => {
          for (const { stream, row, isRemoved } of damages) {
            const where = `WHERE id = (SELECT id FROM ${stream} ORDER BY id LIMIT 1 OFFSET ${row})`
            const act = isRemoved ? `DELETE FROM ${stream}` : `UPDATE ${stream} SET id = -id - 1`
            await connection.run(`${act} ${where}`)
          }
        })
        const change = changing(emulator, seed)
        change()
        let asked = 0
        const stop = emulator.onRequest(() => {
          asked++
          if (asked % pause === 0) change()
        })
        const moving = await verify(...words, '--sync')
        stop()
        expect(moving.summary['failures']).toEqual([])
        await protime('sync', ...words)
        const still = await verify(...words)
        const places = ({ differences }: typeof still) =>
          differences.map(({ stream, key, difference }) => `${stream} ${key} ${difference}`)
        // A change after the comparison may have mended what it found.
        expect(places(moving)).toEqual(expect.arrayContaining(places(still)))
        const isWatched = places(moving).every((place) =>
          WATCHED.includes(place.split(' ')[0] ?? ''),
        )
        expect(isWatched && places(moving).length <= damages.length * 2).toBe(true)
        if (damages.length === 0) expect(moving.exitCode).toBe(0)
      } finally {
        await emulator.close()
        folder.remove()
      }
    }),
    { numRuns: runs },
  )
})
