import { describe, expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator.ts'
import { connect, shareEmulators } from '../test-client.ts'

const started = shareEmulators()
const lists = "/absences?filter=date ge '2026-11-01' and date le '2026-12-31'"
const delta = "/absences?filter=date ge '2026-11-01'&delta"

/** A tenant with six absences, two on each page, whose versions, dates and ids have different orders. */
async function begin(options: EmulatorOptions) {
  const emulator = await startEmulator({ people: 0, months: 0, pageSize: 2, ...options })
  for (const day of [5, 4, 6, 2, 3, 1]) emulator.insert('absences', { date: `2026-11-0${day}` })
  emulator.update('absences', 2, { comments: 'x' })
  return { emulator, client: await connect(emulator) }
}

/** The ids on all pages if something happens after the first one. */
async function idsWith(
  options: EmulatorOptions,
  path: string,
  happens = (_: Emulator): void => {},
) {
  const { emulator, client } = await begin(options)
  const { body } = await client.get(path)
  happens(emulator)
  const { items } = await client.walk(body.nextLink)
  await emulator.close()
  return [...body.value, ...items].map(({ id }) => id)
}

describe.each([lists, delta])('the records of %s', (path) => {
  it.each([
    ['id', [1, 2, 3, 4, 5, 6]],
    ['version', [1, 3, 4, 5, 6, 2]],
    ['date', [6, 4, 5, 2, 1, 3]],
  ] as const)('are in the order of their %s on the pages', async (listOrder, ids) => {
    for (const paging of ['key', 'offset', 'snapshot'] as const)
      expect(await idsWith({ listOrder, paging }, path)).toEqual(ids)
  })

  it('are each on one page of a list at random, in another order for each list', async () => {
    const { emulator, client } = await begin({ listOrder: 'random' })
    const orders = []
    for (let list = 0; list < 8; list++)
      orders.push((await client.walk(path)).items.map(({ id }) => id))
    await emulator.close()
    expect(orders.map((ids) => ids.toSorted())).toEqual(orders.map(() => [1, 2, 3, 4, 5, 6]))
    expect(new Set(orders.map(String)).size).toBeGreaterThan(4)
  })

  it.each([
    ['key', [1, 3, 4, 5, 6, 2, 1]],
    ['offset', [1, 3, 5, 6, 2, 1]],
    ['snapshot', [1, 3, 4, 5, 6, 2]],
  ] as const)(
    'that are changed behind a page move to the end of the order by version (by %s)',
    async (paging, ids) => {
      const edit = (emulator: Emulator) => emulator.update('absences', 1, { comments: 'y' })
      expect(await idsWith({ listOrder: 'version', paging }, path, edit)).toEqual(ids)
    },
  )
})

it('a list of records without a date is by id in the order of dates', async () => {
  const { client } = await started({ people: 5, months: 0, pageSize: 2, listOrder: 'date' })
  expect((await client.walk('/people')).items.map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])
})

it('tells whoever listens which records are on a page', async () => {
  const { emulator, client } = await begin({ listOrder: 'version' })
  const pages: object[] = []
  const stop = emulator.onPage((page) => pages.push(page))
  const { body } = await client.get(lists)
  await client.get(body.nextLink)
  stop()
  await client.get(lists)
  await emulator.close()
  expect(pages).toEqual([
    { collection: 'absences', isDelta: false, isFirst: true, isLast: false, ids: [1, 3] },
    { collection: 'absences', isDelta: false, isFirst: false, isLast: false, ids: [4, 5] },
  ])
})
