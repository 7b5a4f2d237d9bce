import { afterAll, beforeAll, expect, it } from 'vitest'
import { accountTables } from './account.ts'
import { columnsOf } from './column-names.ts'
import type { Landing } from './landing.ts'
import { landingInProcess } from './postgres/testing/pglite.ts'
import { createTable } from './sql.ts'
import { streamOf } from './testing/list-source.ts'
import { createViews, storedViews, storeViews } from './views.ts'

let landing: Landing
let end: () => Promise<void>
beforeAll(async () => {
  ;({ landing, end } = await landingInProcess(['theirs']))
  await landing.run(accountTables(landing.sql).join(';'))
})
afterAll(() => end())

it('a view that waited for objects of others is not told as changed when it is made', async () => {
  const { sql } = landing
  const spec = (type: string) => streamOf('jobs', { extra: { type } })
  const { schema } = spec('object')
  const columns = columnsOf(schema, sql.limits)
  const kind = { version: undefined, history: undefined, others: new Set<string>() }
  const table = { name: 'jobs', place: 'protime.jobs', columns, keys: ['id'], ...kind }
  await landing.run(createTable(sql, table))
  /** The warnings of a sync with this type of a field. */
  const sync = (type: string) =>
    landing.atomically(async () => {
      const known = { spec: spec(type), table, members: [], names: new Map() }
      const stored = (await storedViews(landing)).get('jobs')
      const { made } = await createViews(landing, known, stored, await landing.views(['jobs']))
      return (await storeViews(landing, made)).map(({ id }) => id)
    })
  expect(await sync('array')).toEqual([])
  await landing.run('CREATE VIEW theirs.jobs AS SELECT id, extra FROM protime_flat.jobs')
  expect([await sync('integer'), await sync('integer')]).toEqual([
    ['view-not-made'],
    ['view-not-made'],
  ])
  await landing.run('DROP VIEW theirs.jobs')
  expect([await sync('integer'), await sync('integer')]).toEqual([[], []])
  await landing.run(
    'CREATE OR REPLACE VIEW protime_flat.jobs AS SELECT id, 7::BIGINT AS extra FROM protime.jobs',
  )
  expect(await sync('integer')).toEqual(['table-changed'])
})
