import { expect, it } from 'vitest'
import { eachWithWarehouse } from '../../../integration-tests/testing/warehouse-file.ts'
import { DELETE } from '../../records/record-batch.ts'
import { readStatus } from '../status.ts'
import { type Sent, send, streamOf, syncLists } from '../testing/list-source.ts'

const { file, rows, change } = eachWithWarehouse()

const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })

/** A file of the form before, of a version that stored the least. */
const BEFORE = `CREATE SCHEMA flat; CREATE SCHEMA _protime;
  CREATE TABLE _protime.owner (format INTEGER, tenant VARCHAR, environment VARCHAR, redaction VARCHAR);
  INSERT INTO _protime.owner VALUES (2, 'acme', 'custom', '');
  CREATE TABLE _protime.states (stream VARCHAR PRIMARY KEY, state JSON NOT NULL);
  INSERT INTO _protime.states VALUES ('jobs', '{"syncs":1}');
  CREATE TABLE _protime.columns (stream VARCHAR, position INTEGER, property VARCHAR, name VARCHAR, type VARCHAR, variant_of VARCHAR);
  INSERT INTO _protime.columns VALUES ('jobs', 0, '"id"', 'id', 'BIGINT', NULL), ('jobs', 1, '"name"', 'name', 'VARCHAR', NULL);
  CREATE TABLE _protime.members (stream VARCHAR, name VARCHAR, pointer VARCHAR, member VARCHAR);
  CREATE TABLE _protime.described (stream VARCHAR, digest VARCHAR);
  INSERT INTO _protime.described VALUES ('jobs', 'digest');
  CREATE TABLE _protime.syncs (began TIMESTAMPTZ, ended TIMESTAMPTZ, exit INTEGER, records BIGINT);
  INSERT INTO _protime.syncs (began) VALUES (now()), (now());
  CREATE TABLE _protime.streams (stream VARCHAR, last_complete TIMESTAMPTZ, rows BIGINT, failure VARCHAR);
  INSERT INTO _protime.streams (stream, rows) VALUES ('jobs', 3);
  CREATE TABLE main.jobs (id BIGINT, name VARCHAR, _generation BIGINT);
  INSERT INTO main.jobs VALUES (1, 'a', 7), (2, 'b', 7), (3, 'c', 5);
  CREATE TABLE main._protime_next_jobs AS FROM main.jobs;
  CREATE VIEW flat.jobs AS SELECT id, name FROM main.jobs`

const sync = (...records: readonly Sent[]) =>
  syncLists(
    file(),
    new Map([
      [
        jobs,
        async (output) => {
          await send(output, records, 7)
          output.note({ type: 'generation complete', generation: 7 })
          await output.complete()
        },
      ],
    ]),
  )

it.each([
  ['', []],
  ['CREATE INDEX mine ON jobs (name)', ['_generation']],
  ["ALTER TABLE jobs ADD COLUMN note VARCHAR; UPDATE jobs SET note = 'mine'", ['note']],
])('takes over a file of the form before, and says so: %s', async (more, kept) => {
  await change(`${BEFORE}; ${more}`)
  await expect(readStatus(file(), (open) => open())).rejects.toThrow(
    'Run protime sync, which takes',
  )
  const { failures, warnings, infos, states, startedOver } = await sync('{"id":1,"name":"a"}')
  expect([failures, warnings]).toEqual([[], []])
  expect(infos[0]).toContain('w.duckdb was written by an earlier version of this program')
  // The state still says which rows there were, so that missing ones are noticed.
  expect([states, startedOver]).toEqual([new Map([['jobs', { syncs: 1 }]]), new Set(['jobs'])])
  const [row = {}, ...others] = await rows('SELECT * FROM jobs')
  expect([row, others]).toMatchObject([{ id: '1', name: 'a' }, []])
  expect(Object.keys(row).sort()).toEqual(['_known_from', 'id', 'name', ...kept].sort())
  // It was there when the file was taken over, before this sync wrote anything.
  expect(
    await rows(`SELECT _known_from < (SELECT max(moment) FROM _protime.owner) AS is FROM jobs`),
  ).toEqual([{ is: true }])
  expect(await rows('SHOW TABLES')).toEqual([{ name: 'jobs' }])
  const again = await sync('{"id":2,"name":"b"}')
  expect(again.infos.filter((text) => text.includes('earlier'))).toEqual([])
  expect([again.states, again.startedOver]).toEqual([new Map([['jobs', { syncs: 2 }]]), new Set()])
})

it('has the deleted rows that such a file has kept in its history, and goes on with that', async () => {
  await change(`${BEFORE}; ALTER TABLE jobs ADD COLUMN _deleted_at TIMESTAMPTZ`)
  await change("UPDATE jobs SET _deleted_at = '2026-01-02T03:04:05Z' WHERE id = 3")
  await sync('{"id":1,"name":"a"}', '{"id":2,"name":"b"}')
  await sync({ json: '{"id":2}', op: DELETE })
  const gone = `SELECT id::INTEGER AS id, name, known_until = '2026-01-02T03:04:05Z' AS before
    FROM history.jobs WHERE known_until IS NOT NULL ORDER BY id`
  expect(await rows(gone)).toEqual([
    { id: 2, name: 'b', before: false },
    { id: 3, name: 'c', before: true },
  ])
  expect(await rows('SELECT column_name AS name FROM (DESCRIBE jobs)')).toEqual(
    ['id', 'name', '_known_from'].map((name) => ({ name })),
  )
})

it('replaces such a file by --rewrite, and has what is in it of others', async () => {
  await change(BEFORE)
  const script = async () => {}
  await syncLists(file(), new Map([[jobs, script]]), { rewrites: true })
  await change('CREATE TABLE mine AS SELECT 1 AS one')
  await expect(syncLists(file(), new Map([[jobs, script]]), { rewrites: true })).rejects.toThrow(
    /created in .*: table main.mine\./,
  )
})
