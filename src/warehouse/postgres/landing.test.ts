import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Column, type ColumnType, HELPER } from '../column.ts'
import type { Landing, RowFile } from '../landing.ts'
import { createStreamRows } from '../stream-rows.ts'
import { postgresDialect } from './dialect.ts'
import { beginFence, fenceTable } from './fence.ts'
import { createLanding } from './landing.ts'
import { inProcess } from './testing/pglite.ts'

const sql = postgresDialect('protime')
const folder = mkdtempSync(join(tmpdir(), 'rows-'))
let server: Awaited<ReturnType<typeof inProcess>>
let landing: Landing
beforeAll(async () => {
  server = await inProcess()
})
beforeEach(async () => {
  const schemas = [...Object.values(sql.schemas), 'theirs']
  await server.query(
    [
      ...schemas.flatMap((name) => [
        `DROP SCHEMA IF EXISTS ${name} CASCADE`,
        `CREATE SCHEMA ${name}`,
      ]),
      ...fenceTable('protime_meta'),
    ].join(';'),
  )
  const fence = await beginFence(server, 'protime_meta', async () => server)
  landing = createLanding(server, 'protime', fence)
})
afterAll(async () => {
  await server.end()
  rmSync(folder, { recursive: true })
})

const TYPES: Readonly<Record<string, ColumnType>> = {
  id: 'BIGINT',
  name: 'VARCHAR',
  day: 'DATE',
  at: 'TIMESTAMP_NS',
  hours: 'DOUBLE',
  on: 'BOOLEAN',
  person: 'JSON',
}
const COLUMNS: Column[] = Object.entries(TYPES).map(([name, type]) => ({
  property: name,
  name,
  type,
}))

let files = 0
/** The files of rows of these records, and the columns that they need. */
function rowsOf(...records: readonly string[]) {
  const rows = createStreamRows({
    sql,
    columns: COLUMNS,
    nextPath: () => join(folder, `${++files}.rows`),
    onAdded() {},
  })
  rows.add(Buffer.from(records.map((record) => `${record}\n`).join('')), 1)
  return { files: rows.take().files as RowFile[], columns: rows.columns }
}

/** The staged values of a record, as texts. */
async function staged(record: string): Promise<Record<string, string | null>> {
  const { files, columns } = rowsOf(record)
  return landing.atomically(async () => {
    const table = await landing.stage('_protime_batch', files, columns)
    const values = columns.map(({ name, type }) => sql.textOf(`batch."${name}"`, type))
    const [row = []] = await landing.query(`SELECT ${values.join(', ')} FROM ${table} AS batch`)
    const named = columns.map(({ name }, i) => [name, row[i] ?? null] as const)
    return Object.fromEntries(named.filter(([, value]) => value !== null))
  })
}

describe('a row file', () => {
  it.each<[string, Record<string, string>]>([
    [
      '{"id":1,"name":"Anna","day":"2026-10-01","hours":7.6,"on":true,"person":{"id":7}}',
      { id: '1', name: 'Anna', day: '2026-10-01', hours: '7.6', on: 'true', person: '{"id":7}' },
    ],
    [
      '{"id":2,"name":"a\\n\\r\\t\\"\\\\\\u001f\\u0002\\u0001\\ud83d\\ude00é"}',
      { id: '2', name: 'a\n\r\t"\\\u001f\u0002\u0001😀é' },
    ],
    [
      '{"id":3,"name":"x\\ud800y","person":["\\ud800"]}',
      { id: '3', name: 'x\ufffdy', person: '["\\ufffd"]' },
    ],
    ['{"id":4,"name":""}', { id: '4', name: '' }],
    ['{"id":5,"name":"\\\\."}', { id: '5', name: '\\.' }],
    ['{"id":6,"name":"a\\n\\\\.\\nb"}', { id: '6', name: 'a\n\\.\nb' }],
    ['{"id":7,"name":"a\\u0000b"}', { id: '7', name_json: '"a\\u0000b"' }],
    ['{"id":8,"person":{"a\\u0000":1}}', { id: '8', person_json: '{"a\\u0000":1}' }],
    [
      '{"id":9,"at":"2026-01-01T10:00:00.123456+02:00"}',
      { id: '9', at: '2026-01-01T08:00:00.123456000' },
    ],
    [
      '{"id":10,"at":"2026-01-01T10:00:00.123456789Z"}',
      { id: '10', at_json: '"2026-01-01T10:00:00.123456789Z"' },
    ],
    [
      '{"id":11,"at":"2026-01-01T10:00:00+16:00"}',
      { id: '11', at_json: '"2026-01-01T10:00:00+16:00"' },
    ],
    ['{"id":12,"at":"2026-01-01T10:00:00"}', { id: '12', at: '2026-01-01T10:00:00.000000000' }],
    [
      '{"id":13,"hours":5e-324,"day":"2026-02-30"}',
      { id: '13', hours: '5e-324', day_json: '"2026-02-30"' },
    ],
    ['{"id":9223372036854775808}', { id_json: '9223372036854775808' }],
    [
      '{"id":14,"Xmin":"z","Name":"other","ctid":1}',
      { id: '14', xmin_1: '"z"', name_1: '"other"', ctid_1: '1' },
    ],
    [
      '{"id":15,"person":{"b":1.10,"a" : 1E200000,"a":2}}',
      { id: '15', person: '{"b":1.10,"a" : 1E200000,"a":2}' },
    ],
    [`{"id":16,"name":"${'x'.repeat(300_000)}"}`, { id: '16', name: 'x'.repeat(300_000) }],
  ])('with %.70s is read exactly', async (record, values) => {
    expect(await staged(record)).toEqual(values)
  })

  it('keeps the order and the operations of its rows, over several files', async () => {
    const { files, columns } = rowsOf(
      '{"id":1}',
      '{"id":2,"name":"a","hours":2}d',
      '{"id":1,"hours":1}',
      '{"id":3}d',
    )
    const rows = await landing.atomically(async () => {
      const table = await landing.stage('_protime_batch', files, columns)
      return landing.query(
        `SELECT batch.id, batch.${HELPER.op} FROM ${table} AS batch ORDER BY batch.${HELPER.row}`,
      )
    })
    expect(files.length).toBeGreaterThan(1)
    expect(rows).toEqual([
      ['1', '0'],
      ['2', '1'],
      ['1', '0'],
      ['3', '1'],
    ])
  })

  it('is added to a table with constants, and may lack columns, which get no default of others', async () => {
    const { files } = rowsOf('{"id":1,"person":{"a":1}}')
    await landing.run(
      "CREATE TABLE protime.jobs (id BIGINT, name TEXT DEFAULT 'theirs', person JSON, since BIGINT)",
    )
    await landing.atomically(() =>
      landing.append(
        'protime.jobs',
        files,
        COLUMNS.slice(0, 2).concat(COLUMNS.slice(-1)),
        new Map([['since', '7']]),
      ),
    )
    expect(await landing.query('SELECT * FROM protime.jobs')).toEqual([['1', null, '{"a":1}', '7']])
  })
})

describe('a transaction', () => {
  it('leaves no scratch table, and nothing at all if it fails', async () => {
    await landing.atomically(async () => {
      await landing.scratch('_protime_last', 'SELECT 1 AS one')
      await landing.scratch('_protime_last', 'SELECT 2 AS two')
      expect(await landing.query('SELECT two FROM protime_meta._protime_last')).toEqual([['2']])
    })
    const failed = landing.atomically(async () => {
      await landing.run('CREATE TABLE protime.jobs (id BIGINT)')
      await landing.run('SELECT 1 / 0')
    })
    await expect(failed).rejects.toThrow('division by zero')
    const present = await landing.present()
    expect(present.columnsOf('jobs')).toBe(undefined)
    const hasOwn = await landing.ownTables()
    expect(hasOwn('_protime_last')).toBe(false)
    expect(hasOwn('commits')).toBe(true)
  })

  it('is refused when a later sync has begun', async () => {
    await landing.run('CREATE TABLE protime.jobs (id BIGINT)')
    await beginFence(server, 'protime_meta', async () => server)
    await expect(landing.run('INSERT INTO protime.jobs VALUES (1)')).rejects.toMatchObject({
      failure: 'transient',
      id: 'in-use',
    })
    const { rows } = await server.query('SELECT count(*) FROM protime.jobs')
    expect(rows).toEqual([['0']])
  })

  it('is refused when the server has lost the one before, as in a failover', async () => {
    await landing.run('CREATE TABLE protime.jobs (id BIGINT)')
    await server.query('UPDATE protime_meta.commits SET number = number - 1')
    const written = landing.run('INSERT INTO protime.jobs VALUES (1)')
    // The sync ends, rather than to read all other streams for nothing.
    expect(landing.failureOf(await written.catch((reason: unknown) => reason))).toMatchObject({
      error: { failure: 'transient', id: 'warehouse-not-reached' },
      isOfAll: true,
    })
    const { rows } = await server.query('SELECT count(*) FROM protime.jobs')
    expect(rows).toEqual([['0']])
  })

  it('is not disturbed by what the role is set to', async () => {
    await server.query(
      "SET timezone = 'Asia/Tokyo'; SET datestyle = 'SQL, DMY'; SET statement_timeout = 1; SET extra_float_digits = -15",
    )
    expect(
      await staged(
        '{"id":1,"day":"2026-02-03","at":"2026-01-01T10:00:00","hours":0.1234567890123456}',
      ),
    ).toEqual({
      id: '1',
      day: '2026-02-03',
      at: '2026-01-01T10:00:00.000000000',
      hours: '0.1234567890123456',
    })
    await server.query('RESET ALL')
  })

  it.each([
    ['quote_all_identifiers', 'on', 'off'],
    ['row_security', 'on', 'off'],
    ['intervalstyle', 'sql_standard', 'postgres'],
    ['transaction_timeout', '1h', '0'],
  ])('has its own %s', async (name, role, own) => {
    await server.query(`SET ${name} = '${role}'`)
    expect(await landing.query(`SHOW ${name}`)).toEqual([[own]])
    await server.query('RESET ALL')
  })
})

describe('a view', () => {
  const replace = (columns: readonly string[], query: string) =>
    landing.atomically(() =>
      landing.replaceView({ schema: 'protime_flat', name: 'jobs', columns, query, comments: [] }),
    )
  const digest = async () => (await landing.views(['jobs']))('protime_flat', 'jobs')
  const shown = async () =>
    (
      await landing.query(
        "SELECT attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'protime_flat.jobs'::regclass ORDER BY attnum",
      )
    ).flat()

  it('gets new columns at its end, while a view of others stays', async () => {
    await replace(['id', 'name'], "SELECT 1 AS id, 'a' AS name")
    await landing.run('CREATE VIEW theirs.jobs AS SELECT name FROM protime_flat.jobs')
    await replace(['id', 'code', 'name'], "SELECT 1 AS id, 2 AS code, 'a' AS name")
    expect(await shown()).toEqual(['id integer', 'name text', 'code integer'])
  })

  it('of which a column gets another type is made again with its grants', async () => {
    await replace(['id', 'name'], 'SELECT 1 AS id, 2 AS name')
    await landing.run(
      'CREATE ROLE "a reader"; GRANT SELECT ON protime_flat.jobs TO "a reader" WITH GRANT OPTION; GRANT SELECT ON protime_flat.jobs TO PUBLIC',
    )
    await replace(['id', 'name'], "SELECT 1 AS id, 'a' AS name")
    expect(await shown()).toEqual(['id integer', 'name text'])
    const [[grants] = []] = await landing.query(
      "SELECT relacl::text FROM pg_class WHERE oid = 'protime_flat.jobs'::regclass",
    )
    expect(grants).toMatch(/a reader.*=r\*\//)
    expect(grants).toMatch(/[{,]=r\//)
    await replace(['name'], "SELECT 'a' AS name")
    expect(await shown()).toEqual(['name text'])
  })

  it.each([
    ['gets another column', "SELECT 1 AS id, 'a' AS name"],
    ['is made again', "SELECT 'a' AS id, 'a' AS name"],
  ])('keeps the options that others gave it when it %s', async (_what, query) => {
    await replace(['id'], 'SELECT 1 AS id')
    await landing.run(
      'ALTER VIEW protime_flat.jobs SET (security_invoker = true, security_barrier = true)',
    )
    await replace(['id', 'name'], query)
    expect(
      await landing.query(
        "SELECT reloptions::text FROM pg_class WHERE oid = 'protime_flat.jobs'::regclass",
      ),
    ).toEqual([['{security_invoker=true,security_barrier=true}']])
  })

  it('that is made again grants what it granted before, by column, and nothing else', async () => {
    await replace(['id', 'name', 'gone'], 'SELECT 1 AS id, 2 AS name, 3 AS gone')
    await landing.run(
      `CREATE ROLE clerk; CREATE ROLE guest;
      GRANT SELECT (id, gone) ON protime_flat.jobs TO clerk;
      ALTER DEFAULT PRIVILEGES IN SCHEMA protime_flat GRANT SELECT ON TABLES TO guest, PUBLIC`,
    )
    await replace(['id', 'name'], "SELECT 1 AS id, 'a' AS name")
    const may = async (role: string, column: string) =>
      (
        await landing.query(
          `SELECT has_column_privilege('${role}', 'protime_flat.jobs', '${column}', 'SELECT')`,
        )
      )[0]?.[0]
    expect([await may('clerk', 'id'), await may('clerk', 'name')]).toEqual(['t', 'f'])
    expect(await may('guest', 'id')).toBe('f')
  })

  it('on which a view of others depends stays as it is', async () => {
    await replace(['id'], 'SELECT 1 AS id')
    const before = await digest()
    expect(before).toMatch(/^\w{32}$/)
    await landing.run('CREATE VIEW theirs.jobs AS SELECT id FROM protime_flat.jobs')
    expect(await replace(['id'], "SELECT 'a' AS id")).toBe(false)
    expect(await digest()).toBe(before)
  })

  it.each([
    'CREATE TRIGGER theirs INSTEAD OF INSERT ON protime_flat.jobs FOR EACH ROW EXECUTE FUNCTION theirs.skip()',
    'CREATE RULE theirs AS ON DELETE TO protime_flat.jobs DO INSTEAD NOTHING',
    'ALTER VIEW protime_flat.jobs ALTER id SET DEFAULT 7',
  ])('that would lose what others have added to it stays as it is: %s', async (statement) => {
    await replace(['id'], 'SELECT 1 AS id')
    const before = await digest()
    await landing.run(
      `CREATE FUNCTION theirs.skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; ${statement}`,
    )
    expect(await replace(['id'], "SELECT 'a' AS id")).toBe(false)
    expect(await digest()).toBe(before)
    expect(await replace(['id', 'name'], "SELECT 1 AS id, 'a' AS name")).toBe(true)
  })

  it('on which a view of others depends is named where it cannot be dropped', async () => {
    await replace(['id'], 'SELECT 1 AS id')
    await landing.run('CREATE VIEW theirs.jobs AS SELECT id FROM protime_flat.jobs')
    const error = await landing.run('DROP VIEW protime_flat.jobs').catch((reason) => reason)
    expect(landing.failureOf(error).error.message).toMatch(
      /cannot drop view protime_flat.jobs because other objects depend on it/,
    )
  })
})

it('what exists is seen, and what is in the way of tables and views', async () => {
  await landing.run(
    'CREATE TABLE protime.jobs (id BIGINT, at TIMESTAMPTZ); CREATE VIEW protime.people AS SELECT 1 AS id; CREATE TABLE protime_flat.jobs (id BIGINT)',
  )
  const present = await landing.present()
  expect([...(present.columnsOf('jobs') ?? [])]).toEqual([
    ['id', 'BIGINT'],
    ['at', 'TIMESTAMP WITH TIME ZONE'],
  ])
  expect(present.inTheWayOf('protime', 'people')).toBe('protime.people')
  expect(present.inTheWayOf('protime_flat', 'jobs')).toBe('protime_flat.jobs')
  expect(present.inTheWayOf('protime_history', 'jobs')).toBe(undefined)
  expect((await landing.views(['jobs']))('protime_flat', 'jobs')).toBe('')
})

it('a table whose name differs in case is another one', async () => {
  await landing.run(
    'CREATE TABLE protime.jobs (id BIGINT); CREATE TABLE protime."Jobs" (mine DATE); CREATE TABLE protime."People" (mine DATE); CREATE VIEW protime."Sectors" AS SELECT 1',
  )
  const present = await landing.present()
  expect([...(present.columnsOf('jobs') ?? [])]).toEqual([['id', 'BIGINT']])
  expect(present.columnsOf('people')).toBe(undefined)
  expect(present.inTheWayOf('protime', 'sectors')).toBe(undefined)
})

it('the rows of a query of the user are JSON', async () => {
  const query = `SELECT 9223372036854775807 AS n, 1.50 AS d, 'NaN'::float8 AS f, '{"a":1}'::json AS j, true AS b, NULL AS e, 'a"b' AS t`
  expect(await landing.atomically(() => landing.jsonRows(query))).toEqual([
    '{"n":9223372036854775807,"d":1.50,"f":"NaN","j":{"a":1},"b":true,"e":null,"t":"a\\"b"}',
  ])
  await expect(
    landing.atomically(() => landing.jsonRows('SELECT 1; SELECT 2')),
  ).rejects.toMatchObject({
    id: 'query-not-valid',
  })
})
