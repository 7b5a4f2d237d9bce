import { DuckDBInstance } from '@duckdb/node-api'
import { describe, expect, it } from 'vitest'
import { duckDbDialect } from './duckdb/dialect.ts'
import { createStreamRows } from './stream-rows.ts'
import { send } from './testing/list-source.ts'
import { createCommits, createRisingKeys, createWarehouseOutput } from './warehouse-output.ts'

describe('commits', () => {
  it('begin a second after the start, and then every five seconds', async () => {
    const waits: { readonly ms: number; readonly work: () => void }[] = []
    let count = 0
    const commits = createCommits(
      async () => {
        count += 1
      },
      (ms, work) => {
        waits.push({ ms, work })
        return () => {}
      },
    )
    waits[0]?.work()
    waits[1]?.work()
    await commits.now()
    expect(waits.map(({ ms }) => ms)).toEqual([1_000, 5_000, 5_000])
    expect(count).toBe(2)
  })

  it('run one at a time, also where rows that waited for one demand the next', async () => {
    const ends: (() => void)[] = []
    let running = 0
    let most = 0
    const commits = createCommits(
      async () => {
        most = Math.max(most, ++running)
        await new Promise<void>((resolve) => ends.push(resolve))
        running -= 1
      },
      () => () => {},
    )
    const rows = commits.now().then(() => commits.wrote(200 * 1024 * 1024))
    const other = commits.now()
    for (const done of [rows, other, commits.stop()]) {
      for (const end of ends.splice(0)) end()
      await new Promise(setImmediate)
      for (const end of ends.splice(0)) end()
      await done
    }
    expect([most, running]).toEqual([1, 0])
  })

  const RISING = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

  it.each([
    ['wide rows that are new at 48 MB', RISING, 4, [12]],
    [
      'rows that may take the place of others at 16 MB, and before the first',
      RISING.toReversed(),
      4,
      [2, 5, 9],
    ],
    ['rows of long records at 16 MB', RISING.slice(0, 5), 10, [2, 4]],
  ])('begin for %s', async (_, ids, megabytes, after) => {
    const begun: number[] = []
    let sent = 0
    const output = createWarehouseOutput({
      stream: 'jobs',
      rows: {
        columns: [],
        misfits: new Map(),
        add: () => megabytes * 1024 * 1024,
        take: () => ({ files: [], count: 1 }),
      },
      keys: createRisingKeys(-1),
      commits: createCommits(
        async () => void begun.push(sent),
        () => () => {},
      ),
      now: () => new Date(0),
    })
    for (const id of ids) {
      sent += 1
      await send(output, [JSON.stringify({ id })])
    }
    expect(begun).toEqual(after)
  })

  it('take nothing of a stream whose rows could not be written: the last one may be a part of a row', async () => {
    const taken: unknown[] = []
    const commits = createCommits(
      async () => void taken.push(output.take()),
      () => () => {},
    )
    const output = createWarehouseOutput({
      stream: 'jobs',
      rows: createStreamRows({
        sql: duckDbDialect,
        columns: [{ property: 'id', name: 'id', type: 'BIGINT' }],
        nextPath: () => '/dev/full',
        onAdded() {},
      }),
      keys: createRisingKeys(-1),
      commits,
      now: () => new Date(0),
    })
    await expect(send(output, ['{"id":1}'])).rejects.toThrow('no space is left on the disk')
    await commits.now()
    expect(taken).toEqual([undefined])
  })

  it("take as many new rows as fill two of DuckDB's row groups, and no more", async () => {
    const instance = await DuckDBInstance.create()
    const connection = await instance.connect()
    await connection.run('CREATE TABLE many AS SELECT * FROM range(200_000)')
    const first = `SELECT sum(count) FROM pragma_storage_info('many')
      WHERE row_group_id = 0 AND segment_type = 'BIGINT'`
    const [[group] = []] = (await connection.runAndReadAll(first)).getRows()
    const taken: number[] = []
    let waiting = 0
    const commits = createCommits(
      async () => void taken.push(output.take()?.count ?? 0),
      () => () => {},
    )
    const output = createWarehouseOutput({
      stream: 'jobs',
      rows: {
        columns: [],
        misfits: new Map(),
        add: (lines) => {
          waiting += Buffer.from(lines).toString().split('\n').length - 1
          return lines.length
        },
        take: () => {
          const count = waiting
          waiting = 0
          return { files: [], count }
        },
      },
      keys: createRisingKeys(-1),
      commits,
      now: () => new Date(0),
    })
    const idsFrom = (first: number, length: number) =>
      Array.from({ length }, (_, i) => JSON.stringify({ id: first + i }))
    const size = Number(group)
    for (const [first, length] of [
      [0, size],
      [size, size - 1_000],
      [2 * size - 1_000, 1_000],
      [2 * size, 1],
    ] as const)
      await send(output, idsFrom(first, length))
    await commits.now()
    expect(taken).toEqual([2 * size, 1])
  })
})
