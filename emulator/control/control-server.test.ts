import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Emulator, startEmulator } from '../emulator.ts'
import { connect } from '../test-client.ts'
import { defaultControl } from './control-server.ts'

let emulator: Emulator
beforeEach(async () => {
  emulator = await startEmulator({ people: 3, months: 1, controlPort: 0 })
})
afterEach(() => emulator.close())

async function post(path: string, body: object = {}) {
  const answer = await fetch(`${emulator.controlUrl}${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}

async function show(path: string): Promise<unknown> {
  return (await fetch(`${emulator.controlUrl}${path}`)).json()
}

it('inserts, changes and deletes', async () => {
  const { body } = await post('/insert', { collection: 'jobs', record: { name: { default: 'X' } } })
  await post('/update', { collection: 'jobs', id: body['id'], patch: { name: { default: 'Y' } } })
  const updated = emulator.all('jobs').at(-1)
  await post('/remove', { collection: 'jobs', id: body['id'] })
  expect([updated?.['name'], emulator.all('jobs').at(-1)?.['id'] === body['id']]).toEqual([
    { default: 'Y' },
    false,
  ])
})

it('shows the existing records without soft-deleted ones', async () => {
  const id = emulator.all('clockings')[0]?.['id']
  await post('/soft-delete', { collection: 'clockings', id })
  const [live, stored] = [await show('/all/clockings'), await show('/stored/clockings')]
  expect([(live as []).length + 1, live]).toEqual([
    (stored as []).length,
    emulator.all('clockings'),
  ])
})

it('moves the clock', async () => {
  const before = emulator.now().getTime()
  await post('/advance', { hours: 2, minutes: 30 })
  expect(emulator.now().getTime() - before).toBeGreaterThanOrEqual(9_000_000)
})

it('sets faults by path and by pattern', async () => {
  const client = await connect(emulator)
  await post('/fail', { path: '/people', status: 503, times: 1 })
  await post('/fail', { pattern: '^/jobs', status: 500, times: 1 })
  const statuses = [await client.get('/people'), await client.get('/jobs')]
  expect(statuses.map(({ status }) => status)).toEqual([503, 500])
})

it('makes many changes and counts them', async () => {
  const { body } = await post('/changes', { inserts: 20, updates: 20, deletes: 5, softDeletes: 5 })
  const counts = Object.values(body) as Record<string, number>[]
  expect(counts.reduce((sum, one) => sum + (one['inserts'] ?? 0), 0)).toBe(20)
})

it('changes options of the running service', async () => {
  await post('/options', { pageSize: 1 })
  expect((await (await connect(emulator)).get('/people')).body.value).toHaveLength(1)
})

it('shows the requests', async () => {
  await connect(emulator)
  expect(await show('/requests')).toMatchObject([{ path: '/connect/token', status: 200 }])
})

/** The text of GET / with the default address in its examples. */
async function reference(): Promise<string> {
  const answer = await fetch(`${emulator.controlUrl}/`)
  return (await answer.text()).replaceAll(String(emulator.controlUrl), defaultControl)
}

it('runs every example of GET / and of the document, in their order', async () => {
  const text = `${await reference()}\n${readFileSync('docs/emulator.md', 'utf8')}`
  const lines = [...text.matchAll(/curl (?:-d '(.*)' )?http:\/\/127\.0\.0\.1:4011(\/[^\s`]*)/g)]
  const run = async (line: string, data: string | undefined, path: string | undefined) => {
    const init = data === undefined ? {} : { method: 'POST', body: data }
    const { status } = await fetch(`${emulator.controlUrl}${path}`, init)
    return status === 200 ? [] : [line]
  }
  const failed: string[] = []
  for (const [line, data, path] of lines) failed.push(...(await run(line, data, path)))
  expect([failed, lines.length > 30]).toEqual([[], true])
})

it('clears an option by null', async () => {
  await post('/options', { rateLimit: { perSecond: 1, bucket: 1 } })
  await post('/options', { rateLimit: null })
  expect(emulator.options.rateLimit).toBeUndefined()
})

it.each([
  ['/options', { pagesize: 1 }, 'There is no option pagesize'],
  ['/options', { pageSize: 0 }, 'pageSize takes a whole number from 1 on, not 0'],
  [
    '/options',
    { usedDeltaLink: 'lost' },
    'usedDeltaLink takes answers or continues or conflict or gone',
  ],
  ['/options', { dateHeader: 'tomorrow' }, 'dateHeader takes a time such as 2026-11-20T03:00:00Z'],
  ['/options', { clients: [{ id: 'a' }] }, 'clients takes a list of clients'],
  ['/options', { people: 9 }, 'people is fixed when the emulator starts'],
  ['/update', {}, 'The argument collection is missing'],
  ['/update', { collection: 'people', id: 1, fields: {} }, 'There is no argument fields'],
  ['/update', { collection: 'peple', id: 1 }, '"peple" is not a valid collection'],
  ['/update', { collection: 'people', id: 1, patch: [] }, '[] is not a valid patch'],
  ['/advance', { hours: '2' }, '"2" is not a valid hours'],
  ['/restore', { collection: 'jobs', record: {} }, 'a record with its id'],
  ['/fault', { path: '/people', kind: 'lightning' }, '"lightning" is not a valid kind'],
  ['/fail', { status: 500 }, 'path or pattern is missing'],
])('explains what is wrong in %s %j', async (path, body, sentence) => {
  const answer = await post(path, body)
  expect([answer.status, answer.body['error']]).toEqual([400, expect.stringContaining(sentence)])
})

it.each([
  [400, '/remove', { collection: 'jobs', id: 999 }],
  [400, '/insert', { collection: 'nothing' }],
  [404, '/nothing', {}],
])('answers %i to %s with %j', async (status, path, body) => {
  expect(await post(path, body)).toMatchObject({ status, body: { error: expect.any(String) } })
})

it.each([
  { host: 'attacker.test' },
  { host: '127.0.0.1.attacker.test:4011' },
  { origin: 'https://attacker.test' },
  { origin: 'null' },
])('obeys no page of another host: %j', async (headers) => {
  const id = emulator.all('jobs')[0]?.['id']
  const url = new URL(`${emulator.controlUrl}/remove`)
  const status = await new Promise<number | undefined>((resolve, reject) => {
    request(url, { method: 'POST', headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end(JSON.stringify({ collection: 'jobs', id }))
  })
  expect([status, emulator.all('jobs')[0]?.['id']]).toEqual([403, id])
})
