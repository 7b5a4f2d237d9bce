import { afterEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from './emulator.ts'
import type { EmulatorOptions } from './options.ts'
import { connect } from './test-client.ts'

let emulator: Emulator
afterEach(() => emulator.close())

const start = "/clockings?filter=date ge '2026-10-01'&delta"

async function begin(options: EmulatorOptions = {}) {
  emulator = await startEmulator({ people: 3, months: 1, ...options })
  const client = await connect(emulator)
  return { client, first: await client.walk(start) }
}

it('gives the whole set as plain records first', async () => {
  const { first } = await begin({ pageSize: 50 })
  expect(first.items).toEqual(emulator.all('clockings'))
})

it('ends the first phase with an empty page when the records fill all pages', async () => {
  emulator = await startEmulator({ people: 10, months: 0, pageSize: 5 })
  const { items, pages } = await (await connect(emulator)).walk('/people?delta')
  expect({ items: items.length, pages }).toEqual({ items: 10, pages: 3 })
})

it('reports the latest state of what changed, ordered by version', async () => {
  const { client, first } = await begin()
  const [one, two, three] = emulator.all('clockings')
  emulator.update('clockings', three?.['id'] as number)
  const updated = emulator.update('clockings', one?.['id'] as number)
  emulator.remove('clockings', two?.['id'] as number)
  const latest = emulator.update('clockings', three?.['id'] as number)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toEqual([
    { changeType: 'InsertOrUpdate', data: updated },
    { changeType: 'Delete', data: { changeVersion: expect.any(String), id: two?.['id'] } },
    { changeType: 'InsertOrUpdate', data: latest },
  ])
})

it('reports changes made while the first phase is read', async () => {
  emulator = await startEmulator({ people: 3, months: 1, pageSize: 10 })
  const client = await connect(emulator)
  const first = await client.get(start)
  const { id } = emulator.update('clockings', emulator.all('clockings')[0]?.['id'] as number)
  const rest = await client.walk(first.body.nextLink)
  const { body } = await client.get(rest.deltaLink ?? '')
  expect(body.value.map((item: { data: { id: number } }) => item.data.id)).toEqual([id])
})

it('reports a soft delete as an update with the status Deleted', async () => {
  const { client, first } = await begin()
  emulator.softDelete('clockings', emulator.all('clockings')[0]?.['id'] as number)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value[0]).toMatchObject({ changeType: 'InsertOrUpdate', data: { status: 'Deleted' } })
})
