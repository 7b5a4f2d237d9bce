import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../integration-tests/testing/files.ts'
import { ask, withDuckDb } from '../../integration-tests/testing/protime.ts'
import { readFile } from './duckdb/landing.ts'
import { send, streamOf, syncLists } from './testing/list-source.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const file = () => join(folder.path, 'w.duckdb')

it('compares a complete read with rows that are longer than its own', async () => {
  const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })
  const read = async (generation: number, name: string) => {
    const rows = [1, 2, 3, 4, 5, 6].map((id) => JSON.stringify({ id, name }))
    const { failures, warnings } = await syncLists(
      file(),
      new Map([
        [
          jobs,
          async (output) => {
            await send(output, rows.slice(0, 3), generation)
            await output.checkpoint({ flush: true })
            await send(output, rows.slice(3), generation)
            output.note({ type: 'generation complete', generation })
            await output.complete()
          },
        ],
      ]),
    )
    expect([failures, warnings]).toEqual([[], []])
  }
  await read(1, 'x'.repeat(30_000_000))
  await read(2, 'a')
  expect(await ask(file(), 'SELECT max(length(name))::INTEGER AS longest FROM jobs')).toEqual([
    { longest: 1 },
  ])
})

it.each([
  ['together do not fit into the memory for reading', 60, 2_000_000],
  ['do not fit into it one by one', 2, 24_000_000],
])('reads rows that %s', async (_what, count, length) => {
  await withDuckDb(file(), (connection) =>
    connection.run(`CREATE TABLE long AS SELECT range AS id, repeat('ab', ${length / 2}) AS text FROM range(${count});
      DELETE FROM long WHERE id = 1`),
  )
  const landing = await readFile(file(), (work) => work())
  const read: [number, number][] = []
  for await (const texts of landing.texts('long', "concat(source.id, ' ', source.text)"))
    for (const text of texts) read.push([parseInt(text.toString(), 10), text.length])
  await landing.close()
  const ids = Array.from({ length: count }, (_, id) => id).filter((id) => id !== 1)
  expect(read).toEqual(ids.map((id) => [id, `${id} `.length + length]))
})
