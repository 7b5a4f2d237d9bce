import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Emulator, type EmulatorOptions, startEmulator } from '../emulator.ts'
import { connect, type Item, type TestClient } from '../test-client.ts'

const collections = ['clockings', 'contracts', 'counter-groups']

/**
 * A careful reader by the documents: it keeps the newest version of each record and drops what is
 * deleted.
 */
class Copy {
  readonly rows = new Map<number, Item>()

  take(items: readonly Item[]): void {
    for (const item of items) {
      const data = 'changeType' in item ? item.data : item
      const held = this.rows.get(data.id)
      if (held && held.changeVersion > data.changeVersion) continue
      if ('changeType' in item && item.changeType === 'Delete') this.rows.delete(data.id)
      else this.rows.set(data.id, data)
    }
  }
}

const act = fc.record({
  mutation: fc.constantFrom('insert', 'update', 'remove', 'softDelete', 'move', 'restore'),
  collection: fc.constantFrom(...collections),
  at: fc.nat(1000),
})
const history = fc.array(fc.array(act, { maxLength: 6 }), { minLength: 1, maxLength: 5 })
const options: fc.Arbitrary<EmulatorOptions> = fc.record({
  pageSize: fc.integer({ min: 1, max: 40 }),
  deltaPageSize: fc.integer({ min: 0, max: 4 }),
  deltaLog: fc.boolean(),
  netDelta: fc.boolean(),
  plainDeltaItems: fc.boolean(),
})

it('a reader that follows the links gets the same as the service has, whatever changes while it reads', async () => {
  await fc.assert(
    fc.asyncProperty(options, history, async (given, rounds) => {
      const emulator = await startEmulator({ people: 2, months: 0, ...given })
      try {
        for (let count = 0; count < 12; count += 1) {
          emulator.insert('clockings', { date: `2026-11-0${1 + (count % 9)}` })
        }
        const client = await connect(emulator)
        for (const collection of collections) await follow(emulator, client, collection, rounds)
      } finally {
        await emulator.close()
      }
    }),
    { numRuns: 15 },
  )
}, 60_000)

type Rounds = readonly (readonly { mutation: string; collection: string; at: number }[])[]

async function follow(emulator: Emulator, client: TestClient, collection: string, rounds: Rounds) {
  const copy = new Copy()
  const filter = collection === 'clockings' ? "filter=date ge '2026-11-01'&" : ''
  let link = `/${collection}?${filter}delta`
  const left = [...rounds]
  while (true) {
    const { status, body } = await client.get(link)
    expect(status).toBe(200)
    copy.take(body.value)
    const asked = link.includes('/delta/') && body.value.length === 0
    link = body.nextLink ?? body.deltaLink
    const round = left.shift()
    if (round === undefined && asked && body.deltaLink) break
    for (const { mutation, at } of round ?? []) change(emulator, collection, mutation, at)
  }
  const inside = emulator.stored(collection).filter((row) => {
    return collection !== 'clockings' || String(row['date']) >= '2026-11-01'
  })
  expect([...copy.rows.values()].sort((a, b) => a.id - b.id)).toEqual(inside)
}

function change(emulator: Emulator, collection: string, mutation: string, at: number): void {
  const rows = emulator.stored(collection)
  const row = rows[at % rows.length]
  const id = row?.['id'] as number | undefined
  if (mutation === 'insert' || row === undefined || id === undefined) emulator.insert(collection)
  else if (mutation === 'update') emulator.update(collection, id)
  else if (mutation === 'remove') emulator.remove(collection, id)
  else if (mutation === 'softDelete' && collection === 'clockings')
    emulator.softDelete(collection, id)
  else if (mutation === 'move') emulator.update(collection, id, { date: '2026-10-01' })
  else {
    emulator.remove(collection, id)
    emulator.restore(collection, row)
  }
}
