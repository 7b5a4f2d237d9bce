import { afterEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import type { EmulatorOptions } from '../options.ts'
import { connect, shareEmulators } from '../test-client.ts'

const started = shareEmulators()
let emulator: Emulator
afterEach(() => emulator?.close())

const start = "/clockings?filter=date ge '2026-10-01'&delta"

async function begin(options: EmulatorOptions = {}) {
  emulator = await startEmulator({ people: 3, months: 1, ...options })
  const client = await connect(emulator)
  return { client, first: await client.walk(start) }
}

it('first sends all records as plain records', async () => {
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

it.each([
  ['start', ['before', 'after']],
  ['issued', ['after']],
] as const)('reports the changes since its %s', async (deltaLinkCovers, names) => {
  emulator = await startEmulator({ people: 3, months: 0, pageSize: 2, deltaLinkCovers })
  const client = await connect(emulator)
  const { body } = await client.get('/people?delta')
  emulator.update('people', 1, { firstName: 'before' })
  const { deltaLink } = await client.walk(body.nextLink)
  emulator.update('people', 2, { firstName: 'after' })
  const { items } = await client.walk(deltaLink ?? '')
  expect(items.map(({ data }) => data.firstName)).toEqual(names)
})

it('reports a soft delete as an update with the status Deleted', async () => {
  const { client, first } = await begin()
  emulator.softDelete('clockings', emulator.all('clockings')[0]?.['id'] as number)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value[0]).toMatchObject({ changeType: 'InsertOrUpdate', data: { status: 'Deleted' } })
})

it('reports a record that leaves the filter as a Delete', async () => {
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

it('reports changes outside of the filter if it is not bound', async () => {
  const { client, first } = await begin({ deltaFilterBound: false })
  const { id } = emulator.insert('clockings', { date: '2026-01-01' })
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ data: { id } }])
})

it('splits its changes into pages on request', async () => {
  const { client, first } = await begin({ deltaPageSize: 2 })
  for (const { id } of emulator.all('clockings').slice(0, 5)) {
    emulator.update('clockings', id as number)
  }
  const { items, pages } = await client.walk(first.deltaLink ?? '')
  expect([items.length, pages]).toEqual([5, 3])
})

it('lists every change if it keeps a log', async () => {
  const { client, first } = await begin({ deltaLog: true })
  const id = emulator.all('clockings')[0]?.['id'] as number
  emulator.update('clockings', id)
  emulator.remove('clockings', id)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value.map((item) => item.changeType)).toEqual(['InsertOrUpdate', 'Delete'])
})

it.each([
  ['version', ['Delete', 'InsertOrUpdate']],
  ['reversed', ['InsertOrUpdate', 'Delete']],
] as const)('has the items of a record that is back in the order %s', async (deltaOrder, types) => {
  const { client, first } = await begin({ deltaLog: true, deltaOrder })
  const record = emulator.all('clockings')[0] ?? {}
  emulator.remove('clockings', record['id'] as number)
  emulator.restore('clockings', record)
  const { body } = await client.get(first.deltaLink ?? '')
  const [newest] = body.value.toSorted((a, b) =>
    a.data.changeVersion > b.data.changeVersion ? -1 : 1,
  )
  expect([body.value.map((item) => item.changeType), newest?.changeType]).toEqual([
    types,
    'InsertOrUpdate',
  ])
})

it('leaves out records that came and went between two links, with netDelta', async () => {
  const { client, first } = await begin({ netDelta: true })
  const known = emulator.all('clockings')[0]?.['id'] as number
  emulator.remove('clockings', known)
  emulator.remove('clockings', emulator.insert('clockings')['id'] as number)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ changeType: 'Delete', data: { id: known } }])
})

it('reports the deletion of everything that it has reported, on a page of either phase', async () => {
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

it('reports the deletion of records that came while the first phase was read', async () => {
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
it('sends plain records on request', async () => {
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

it('restores a record with an old id', async () => {
  const { client, first } = await begin()
  const record = emulator.all('clockings')[3] ?? {}
  emulator.remove('clockings', record['id'] as number)
  emulator.restore('clockings', record)
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value).toMatchObject([{ changeType: 'InsertOrUpdate', data: { id: record['id'] } }])
})

it('keeps the references of its first request', async () => {
  emulator = await startEmulator({ people: 1, months: 1 })
  const client = await connect(emulator)
  const { deltaLink } = await client.walk(`${start}&externalReferences=(people,@badge-number)`)
  emulator.update('clockings', emulator.all('clockings')[0]?.['id'] as number)
  const { body } = await client.get(deltaLink ?? '')
  expect(body.value[0]?.data.person.externalReferences).toEqual({
    '@badge-number': emulator.all('people')[0]?.['badgeNumber'],
  })
})

it.each([
  ['answers', 200],
  ['conflict', 409],
  ['gone', 410],
] as const)('meets a used link with %s', async (usedDeltaLink, status) => {
  const { client, first } = await begin({ usedDeltaLink })
  await client.get(first.deltaLink ?? '')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status })
})

it('continues after the first response to a used link', async () => {
  const { client, first } = await begin({ usedDeltaLink: 'continues' })
  const id = emulator.insert('clockings')['id']
  await client.get(first.deltaLink ?? '')
  const later = emulator.insert('clockings')['id']
  const { body } = await client.get(first.deltaLink ?? '')
  expect(body.value.map(({ data }) => data['id'])).toEqual([later])
  expect(later).not.toBe(id)
})

it.each([
  ['replaces', [200, 410]],
  ['conflict', [409, 200]],
] as const)('of which a second start %s the first', async (secondStart, statuses) => {
  const { client, first } = await begin({ secondStart })
  const second = await client.get(start)
  const old = await client.get(first.deltaLink ?? '')
  expect([second.status, old.status]).toEqual(statuses)
})

it('ends when a second consumer starts one', async () => {
  const { client, first } = await begin()
  emulator.stealDelta('clockings')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status: 410 })
})

it('stays active if a second start is refused', async () => {
  const { client, first } = await begin({ secondStart: 'conflict' })
  emulator.stealDelta('clockings')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status: 200 })
})

it('is valid for 72 hours after the last request', async () => {
  const { client, first } = await begin()
  emulator.advance({ hours: 71 })
  const again = await connect(emulator)
  await again.get(first.deltaLink ?? '')
  emulator.advance({ hours: 71 })
  expect(await (await connect(emulator)).get(first.deltaLink ?? '')).toMatchObject({ status: 200 })
  emulator.advance({ hours: 73 })
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status: 401 })
  expect(await (await connect(emulator)).get(first.deltaLink ?? '')).toMatchObject({ status: 410 })
})

// spec: Delta mode 2
// spec: Limits: delta token age
it('has tokens that are valid for 72 hours if their age counts', async () => {
  const { first } = await begin({ expiry: 'age' })
  emulator.advance({ hours: 71 })
  const { body } = await (await connect(emulator)).get(first.deltaLink ?? '')
  emulator.advance({ hours: 2 })
  const client = await connect(emulator)
  const statuses = [await client.get(first.deltaLink ?? ''), await client.get(body.deltaLink)]
  expect(statuses.map(({ status }) => status)).toEqual([410, 200])
})

// spec: Errors: 410
it('ends on request', async () => {
  const { client, first } = await begin()
  emulator.expireDelta('clockings')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status: 410 })
})

it('belongs to one client', async () => {
  const clients = [
    { id: 'one', secret: 'a' },
    { id: 'two', secret: 'b' },
  ]
  const { client, first } = await begin({ clients })
  emulator.options.clients = [...clients].reverse()
  const other = await connect(emulator)
  const statuses = [
    await other.get(first.deltaLink ?? ''),
    await client.get(first.deltaLink ?? ''),
  ].map(({ status }) => status)
  expect(statuses).toEqual([410, 200])
})

// spec: Access clockings: delta
// spec: Departments, employers, jobs: delta
// spec: Limits: access-clocking delta start date
// spec: Limits: access-clocking delta range
it.each([
  ['without a date', '/clockings?delta'],
  ['without a start', "/clockings?filter=date le '2026-11-01'&delta"],
  ['with a start today', "/clockings?filter=date ge '2026-11-20'&delta"],
  ['with a start before last year', "/clockings?filter=date ge '2024-12-31'&delta"],
  [
    'with more than a year',
    "/clockings?filter=date ge '2025-01-01' and date le '2026-01-03'&delta",
  ],
  ['with people', "/clockings?filter=date ge '2026-10-01' and person eq 1&delta"],
  ['with people of contracts', '/contracts?filter=person eq 1&delta'],
  ['with a filter of departments', '/departments?filter=person eq 1&delta'],
  ['with references of jobs', '/jobs?externalReferences=(jobs,x)&delta'],
  ['with a token that is none', '/delta/people?deltaToken=abc'],
  ['with a filter on a delta link', '/delta/departments?deltaToken=abc&filter=person eq 1'],
])('is refused %s', async (_, path) => {
  const { client } = await started({ people: 1, months: 0 })
  expect(await client.get(path)).toMatchObject({ status: 400 })
})

it('starts with the flag alone or with its value true', async () => {
  const { client } = await started({ people: 1, months: 0 })
  const isDelta = async (flag: string) => {
    const { status, body } = await client.get(`/jobs?${flag}`)
    return status === 200 ? 'deltaLink' in body : status
  }
  const flags = ['delta', 'delta=', 'delta=true', 'delta=false', 'delta=maybe']
  expect(await Promise.all(flags.map(isDelta))).toEqual([true, true, true, false, 400])
})

// spec: Addressing 5
// spec: Departments, employers, jobs: delta
// spec: Errors: 400 unsupported query parameter
it.each([
  ['/departments?delta', '&filter=person eq 1'],
  ['/departments?delta', '&externalReferences=(departments,hr-code)'],
  ['/contracts?delta', '&filter=person eq 1'],
])('refuses more than the link says on the next page of %s (%s)', async (path, more) => {
  const { client } = await started({ people: 5, months: 0, pageSize: 2 })
  const { body } = await client.get(path)
  expect(await client.get(body.nextLink + more)).toMatchObject({ status: 400 })
})

it('refuses another filter than that of its start on the next page', async () => {
  const { client } = await started({ people: 3, months: 1, pageSize: 10 })
  const { body } = await client.get("/clockings?filter=date ge '2026-10-01'&delta")
  const other = body.nextLink.replace('2026-10-01', '2026-10-02')
  const statuses = [await client.get(other), await client.get(body.nextLink)]
  expect(statuses.map(({ status }) => status)).toEqual([400, 200])
})

it('does not start again with the token of a delta link', async () => {
  const { client } = await started({ people: 1, months: 0 })
  const { body } = await client.get('/jobs?delta')
  const token = body.deltaLink.split('?')[1]
  expect(await client.get(`/jobs?${token}`)).toMatchObject({ status: 400 })
})

it('does not send changes for the token of a page of its first phase', async () => {
  const { client } = await started({ people: 5, months: 0, pageSize: 2 })
  const { body } = await client.get('/people?delta')
  const [, token] = body.nextLink.split(/&(?=deltaToken)/)
  expect(await client.get(`/delta/people?${token}`)).toMatchObject({ status: 400 })
})
