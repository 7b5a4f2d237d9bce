import { describe, expect, it } from 'vitest'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { type Script, send, streamOf, syncLists } from './testing/list-source.ts'

const { file, rows, change } = eachWithWarehouse()

const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })
const named = (name: string, ...ids: readonly number[]) =>
  ids.map((id) => JSON.stringify({ id, name }))
/** A complete read with a commit after its first part. */
const reading =
  (generation: number, first: readonly string[], last: readonly string[]): Script =>
  async (output) => {
    await send(output, first, generation)
    await output.checkpoint({ flush: true })
    await send(output, last, generation)
    output.note({ type: 'generation complete', generation })
    await output.complete()
  }
const sync = async (script: Script, at?: string) => {
  const now = at === undefined ? {} : { now: () => new Date(at) }
  const { failures, warnings } = await syncLists(file(), new Map([[jobs, script]]), now)
  expect([failures, warnings]).toEqual([[], []])
}

describe('a complete read', () => {
  it.each([
    ['rise', named('a', 1, 2), named('a', 3)],
    ['fall', named('a', 3), named('a', 2, 1)],
  ])('writes no row that has not changed, when keys %s', async (_, first, last) => {
    await sync(reading(1, first, last))
    const before = await rows('SELECT *, rowid FROM jobs ORDER BY id')
    await sync(reading(2, first, last))
    expect(await rows('SELECT *, rowid FROM jobs ORDER BY id')).toEqual(before)
  })

  it('gives rows the moment since which they have these values, also if the clock is set back', async () => {
    const KNOWN =
      'SELECT id::INTEGER AS id, epoch_us(_known_from)::VARCHAR AS at FROM jobs ORDER BY 1'
    await sync(reading(1, named('a', 1, 2), []), '2026-11-01T12:00:00Z')
    const before = await rows(KNOWN)
    expect(before.map(({ at }) => at)).toEqual(
      Array(2).fill(String(Date.UTC(2026, 10, 1, 12) * 1000)),
    )
    await sync(reading(2, named('a', 1), named('b', 2)), '2026-10-01T12:00:00Z')
    const [kept, changed] = await rows(KNOWN)
    expect(kept).toEqual(before[0])
    expect(Number(changed?.['at'])).toBeGreaterThan(Number(before[1]?.['at']))
  })

  it('leaves what others have made, and their values where the key of a row stays', async () => {
    await sync(reading(1, named('a', 1, 2), named('a', 3)))
    await change(`ALTER TABLE jobs ADD COLUMN "Note" VARCHAR; UPDATE jobs SET "Note" = 'mine ' || id;
      CREATE UNIQUE INDEX mine ON jobs (id); CREATE VIEW report AS SELECT name, "Note" FROM jobs`)
    await sync(reading(2, named('b', 1, 4), named('a', 2)))
    expect(await rows('FROM report ORDER BY name, "Note"')).toEqual([
      { name: 'a', Note: 'mine 2' },
      { name: 'b', Note: 'mine 1' },
      { name: 'b', Note: null },
    ])
    expect(await rows("SELECT index_name FROM duckdb_indexes() WHERE table_name = 'jobs'")).toEqual(
      [{ index_name: 'mine' }],
    )
  })

  it('gives new rows the default of a column of others, also of one that is never null', async () => {
    await sync(reading(1, named('a', 1), named('a', 2)))
    await change("ALTER TABLE jobs ADD COLUMN seen VARCHAR DEFAULT 'no'")
    await change('ALTER TABLE jobs ALTER COLUMN seen SET NOT NULL')
    await change("UPDATE jobs SET seen = 'yes' WHERE id = 2")
    await sync(reading(2, named('b', 2), named('a', 1, 3)))
    expect(await rows('SELECT name, seen FROM jobs ORDER BY id')).toEqual([
      { name: 'a', seen: 'no' },
      { name: 'b', seen: 'yes' },
      { name: 'a', seen: 'no' },
    ])
  })

  it('does not take a key for one that does not fit its column', async () => {
    const texts = streamOf('texts', { id: { type: 'string' }, name: { type: 'string' } })
    const script = reading(1, ['{"id":"j7","name":"a"}', '{"id":7,"name":"b"}'], [])
    for (const again of [script, script])
      expect((await syncLists(file(), new Map([[texts, again]]))).failures).toEqual([])
    expect(await rows('SELECT name FROM texts ORDER BY name')).toEqual([
      { name: 'a' },
      { name: 'b' },
    ])
  })

  it('that is read from the beginning again loses the rows that waited, if they are lost', async () => {
    await sync(reading(1, named('a', 1), []))
    await sync(async (output) => {
      await send(output, named('b', 1, 2), 2)
      await output.checkpoint({ flush: true })
    })
    await change('DELETE FROM _protime.next_jobs WHERE id = 2')
    const { startedOver } = await syncLists(
      file(),
      new Map([[jobs, reading(3, named('c', 1), [])]]),
    )
    expect([...startedOver]).toEqual(['jobs'])
    expect(await rows('SELECT name FROM jobs')).toEqual([{ name: 'c' }])
  })
})
