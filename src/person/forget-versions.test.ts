import { afterAll, beforeAll, expect, it } from 'vitest'
import { accountTables } from '../warehouse/account.ts'
import type { Column } from '../warehouse/column.ts'
import type { Landing } from '../warehouse/landing.ts'
import { landingInProcess } from '../warehouse/postgres/testing/pglite.ts'
import { closedPlace, createTable } from '../warehouse/sql.ts'
import { storeColumns } from '../warehouse/tables.ts'
import { forgetVersions } from './forget-versions.ts'

let landing: Landing
let end: () => Promise<void>
beforeAll(async () => {
  ;({ landing, end } = await landingInProcess())
})
afterAll(() => end())

it('versions are forgotten in PostgreSQL, although it reads no member of an object with a NUL', async () => {
  const { sql } = landing
  const columns: Column[] = [
    { property: 'id', name: 'id', type: 'BIGINT' },
    { property: 'person', name: 'person', type: 'JSON' },
    { property: 'person', name: 'person_json', type: 'JSON', variantOf: 'person' },
  ]
  const place = closedPlace(sql, 'clockings')
  const own = { keys: ['id'], history: undefined, others: new Set<string>() }
  await landing.run(
    [
      ...accountTables(sql),
      createTable(sql, { place, columns }),
      ...storeColumns(sql, { name: 'clockings', place, columns, ...own }, []),
      `INSERT INTO ${place} (id, person, person_json) VALUES
        (1, NULL, '{"id":42,"name":"a\\u0000b"}'), (2, '{"id":42}', NULL), (3, NULL, '{"id":43,"name":"\\u0000"}')`,
    ].join(';'),
  )
  expect(await landing.atomically(() => forgetVersions(landing, '42'))).toEqual({ clockings: 2 })
  expect(await landing.query(`SELECT id FROM ${place}`)).toEqual([['3']])
})
