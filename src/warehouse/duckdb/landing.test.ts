import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../integration-tests/testing/files.ts'
import { withDuckDb } from '../../../integration-tests/testing/protime.ts'
import { failureOf, readFile } from './landing.ts'

it('advises to drop an index of somebody else that DuckDB has damaged', () => {
  const { error, isOfAll } = failureOf(
    new Error('FATAL Error: Invalid Input Error: Failed to delete all rows from index. Only'),
  )
  expect([error.failure, isOfAll]).toEqual(['config', true])
  expect(error.message).toContain('an index that you have added to a table is damaged. Drop it')
})

it.each([
  ['together do not fit into the memory for reading', 60, 2_000_000],
  ['do not fit into it one by one', 2, 24_000_000],
])('reads rows that %s', async (_what, count, length) => {
  const folder = temporaryFolder()
  const path = join(folder.path, 'long.duckdb')
  await withDuckDb(path, (connection) =>
    connection.run(`CREATE TABLE long AS SELECT range AS id, repeat('ab', ${length / 2}) AS text FROM range(${count});
      DELETE FROM long WHERE id = 1`),
  )
  const landing = await readFile(path, (work) => work())
  const read: [number, number][] = []
  for await (const texts of landing.texts('long', "concat(source.id, ' ', source.text)"))
    for (const text of texts) read.push([parseInt(text.toString(), 10), text.length])
  await landing.close()
  folder.remove()
  const ids = Array.from({ length: count }, (_, id) => id).filter((id) => id !== 1)
  expect(read).toEqual(ids.map((id) => [id, `${id} `.length + length]))
})
