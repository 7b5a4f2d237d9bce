import { expect, it } from 'vitest'
import { eachWithWarehouse } from '../../integration-tests/testing/warehouse-file.ts'
import { send, streamOf, syncLists } from './testing/list-source.ts'

const { file, rows } = eachWithWarehouse()
const jobs = streamOf('jobs', { name: { type: ['string', 'null'] } })

/** So many rows that their keys are compared range by range. */
const ROWS = 400_000

async function read(generation: number, records: ReadonlyMap<number, string>): Promise<void> {
  const lines = Array.from(records, ([id, name]) => `{"id":${id},"name":"${name}"}`)
  const { failures } = await syncLists(
    file(),
    new Map([
      [
        jobs,
        async (output) => {
          for (let at = 0; at < lines.length; at += 10_000)
            await send(output, lines.slice(at, at + 10_000), generation)
          output.note({ type: 'generation complete', generation })
          await output.complete()
        },
      ],
    ]),
  )
  expect(failures).toEqual([])
}

/** The rows as one text each, as a set: comparing them one by one would take long. */
async function held(): Promise<Set<string>> {
  return new Set(
    (await rows("SELECT id || ' ' || name AS row FROM jobs")).map(({ row }) => String(row)),
  )
}

const asSet = (records: ReadonlyMap<number, string>) =>
  new Set(Array.from(records, ([id, name]) => `${id} ${name}`))

it.each([
  ['rise', (keys: number[]) => keys],
  [
    'come in no order',
    (keys: number[]) => keys.toSorted((a, b) => ((a * 7919) % 1013) - ((b * 7919) % 1013)),
  ],
] as const)(
  'a complete read of many rows leaves exactly those that it has, if their keys %s',
  async (_, order) => {
    const before = new Map(Array.from({ length: ROWS }, (_, i) => [(i + 1) * 3, 'a']))
    await read(1, before)
    expect(await held()).toEqual(asSet(before))
    const keys = [...before.keys()]
      .filter((key) => key % 1000 !== 0)
      .flatMap((key) => (key % 501 === 0 ? [key, key + 1] : [key]))
    const after = new Map(
      order([1, ...keys, ROWS * 4]).map((key) => [key, key % 777 === 0 ? 'b' : 'a']),
    )
    for (const generation of [2, 3]) {
      await read(generation, after)
      expect(await held()).toEqual(asSet(after))
    }
  },
)
