import { afterEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect } from '../test-client.ts'

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
  expect(body.value.map((item) => item.data.id)).toEqual([id])
})

it('reports a soft delete as an update with the status Deleted', async () => {
  const { client, first } = await begin()
  emulator.softDelete('clockings', emulator.all('clockings')[0]?.['id'] as number)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value[0]).toMatchObject({ changeType: 'InsertOrUpdate', data: { status: 'Deleted' } })
})

it('keeps a record that leaves the filter out by a Delete', async () => {
  const { client, first } = await begin()
  const { id } = emulator.update('clockings', emulator.all('clockings').at(-1)?.['id'] as number, {
    date: '2026-09-01',
  })
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ changeType: 'Delete', data: { id } }])
})

it.each([
  ['update', ['InsertOrUpdate']],
  ['nothing', []],
] as const)('reports a record that leaves the filter by %s', async (leavingRow, types) => {
  const { client, first } = await begin({ leavingRow })
  const last = emulator.all('clockings').at(-1)?.['id'] as number
  emulator.update('clockings', last, { date: '2026-09-01' })
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value.map((item) => item.changeType)).toEqual(types)
})

it('reports changes outside the filter when it is not bound', async () => {
  const { client, first } = await begin({ deltaFilterBound: false })
  const { id } = emulator.insert('clockings', { date: '2026-01-01' })
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ data: { id } }])
})

it('pages its changes when told to', async () => {
  const { client, first } = await begin({ deltaPageSize: 2 })
  for (const { id } of emulator.all('clockings').slice(0, 5)) {
    emulator.update('clockings', id as number)
  }
  const { items, pages } = await client.walk(first.deltaLink ?? '')
  expect([items.length, pages]).toEqual([5, 3])
})

it('lists every change when it keeps a log', async () => {
  const { client, first } = await begin({ deltaLog: true })
  const id = emulator.all('clockings')[0]?.['id'] as number
  emulator.update('clockings', id)
  emulator.remove('clockings', id)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value.map((item) => item.changeType)).toEqual(['InsertOrUpdate', 'Delete'])
})

it('leaves out what came and went between two links, with netDelta', async () => {
  const { client, first } = await begin({ netDelta: true })
  const known = emulator.all('clockings')[0]?.['id'] as number
  emulator.remove('clockings', known)
  emulator.remove('clockings', emulator.insert('clockings')['id'] as number)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ changeType: 'Delete', data: { id: known } }])
})

it('reports the end of all that it has reported, on a page of either phase', async () => {
  emulator = await startEmulator({ people: 3, months: 0, deltaPageSize: 1, netDelta: true })
  const client = await connect(emulator)
  const loading = await client.get('/jobs?delta')
  expect(loading.body.deltaLink).toBeDefined()
  const insert = () => emulator.insert('jobs')['id'] as number
  const [one, two] = [insert(), insert()]
  const hop = await client.get(loading.body.deltaLink)
  emulator.remove('jobs', one)
  emulator.remove('jobs', two)
  const rest = await client.walk(hop.body.nextLink)
  expect(rest.items).toMatchObject([{ changeType: 'Delete', data: { id: one } }])
})

it('reports the end of what came while the first phase was read', async () => {
  emulator = await startEmulator({ people: 10, months: 0, pageSize: 5, netDelta: true })
  const client = await connect(emulator)
  const { body } = await client.get('/people?delta')
  const { id } = emulator.insert('people')
  const rest = await client.walk(body.nextLink)
  emulator.remove('people', id as number)
  const hop = await client.get(rest.deltaLink ?? '')
  expect(hop.body.value).toMatchObject([{ changeType: 'Delete', data: { id } }])
})

// spec: Delta mode 4
it('sends plain records when told to', async () => {
  const { client, first } = await begin({ plainDeltaItems: true })
  const updated = emulator.update('clockings', emulator.all('clockings')[0]?.['id'] as number)
  expect((await client.get(first.deltaLink ?? '')).body.value).toEqual([updated])
})

it('gives a deletion a lower version than its record had, with staleDeletes', async () => {
  const { client, first } = await begin({ staleDeletes: true })
  const { id, changeVersion } = emulator.all('clockings')[0] as Record<string, unknown>
  emulator.remove('clockings', id as number)
  const { items } = await client.walk(first.deltaLink ?? '')
  const lowest = '0'.repeat(String(changeVersion).length)
  expect(items).toEqual([{ changeType: 'Delete', data: { id, changeVersion: lowest } }])
})

it('marks all groups as changed when one is saved', async () => {
  emulator = await startEmulator({ people: 1, months: 0 })
  const client = await connect(emulator)
  const { deltaLink } = await client.walk('/counter-groups?delta')
  emulator.update('counter-groups', 1)
  const { items } = await client.walk(deltaLink ?? '')
  expect(items).toHaveLength(emulator.all('counter-groups').length)
})

it('puts a record with an old id back', async () => {
  const { client, first } = await begin()
  const record = emulator.all('clockings')[3] ?? {}
  emulator.remove('clockings', record['id'] as number)
  emulator.restore('clockings', record)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ changeType: 'InsertOrUpdate', data: { id: record['id'] } }])
})

it('keeps the references of its start', async () => {
  emulator = await startEmulator({ people: 1, months: 1 })
  const client = await connect(emulator)
  const { deltaLink } = await client.walk(`${start}&externalReferences=(people,@badge-number)`)
  emulator.update('clockings', emulator.all('clockings')[0]?.['id'] as number)
  const { body } = await client.get(deltaLink ?? '')
  expect(body.value[0]?.data.person.externalReferences).toEqual({
    '@badge-number': emulator.all('people')[0]?.['badgeNumber'],
  })
})
