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

it.each([
  ['answers', 200],
  ['conflict', 409],
  ['gone', 410],
] as const)('meets a used link with %s', async (usedDeltaLink, status) => {
  const { client, first } = await begin({ usedDeltaLink })
  await client.get(first.deltaLink ?? '')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status })
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

it('stays active where a second start is refused', async () => {
  const { client, first } = await begin({ secondStart: 'conflict' })
  emulator.stealDelta('clockings')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status: 200 })
})

it('lives 72 hours after the last request', async () => {
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
it('has tokens that live 72 hours when age counts', async () => {
  const { first } = await begin({ expiry: 'age' })
  emulator.advance({ hours: 71 })
  const { body } = await (await connect(emulator)).get(first.deltaLink ?? '')
  emulator.advance({ hours: 2 })
  const client = await connect(emulator)
  const statuses = [await client.get(first.deltaLink ?? ''), await client.get(body.deltaLink)]
  expect(statuses.map(({ status }) => status)).toEqual([410, 200])
})

// spec: Errors: 410
it('ends when told to', async () => {
  const { client, first } = await begin()
  emulator.expireDelta('clockings')
  expect(await client.get(first.deltaLink ?? '')).toMatchObject({ status: 410 })
})

it('is of one client', async () => {
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
