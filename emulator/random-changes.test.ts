import { afterEach, expect, it } from 'vitest'
import { collections, relations } from './collections.ts'
import { type Emulator, startEmulator } from './emulator.ts'
import { presence } from './recalculate.ts'
import type { Fields } from './store.ts'

const emulators: Emulator[] = []
afterEach(async () => {
  for (const one of emulators.splice(0)) await one.close()
})

const wish = { inserts: 200, updates: 200, deletes: 100, softDeletes: 50, seed: 7 }

async function changed() {
  const emulator = await startEmulator({ people: 6, months: 1 })
  emulators.push(emulator)
  return { emulator, counts: emulator.randomChanges(wish) }
}

it('makes as many changes as wanted', async () => {
  const { counts } = await changed()
  const sum = (kind: 'inserts' | 'deletes' | 'softDeletes') =>
    Object.values(counts).reduce((total, one) => total + one[kind], 0)
  expect([sum('inserts'), sum('deletes'), sum('softDeletes')]).toEqual([200, 100, 50])
})

it('makes the same changes again for the same seed', async () => {
  const [one, two] = [await changed(), await changed()]
  const truth = ({ emulator }: typeof one) => Object.keys(collections).map(emulator.stored)
  expect([truth(two), two.counts]).toEqual([truth(one), one.counts])
})

it('leaves no link to a record that does not exist', async () => {
  const { emulator } = await changed()
  const ids = new Map(
    Object.keys(collections).map((name) => [
      name,
      new Set(emulator.stored(name).map(({ id }) => id)),
    ]),
  )
  const dangling = Object.keys(collections)
    .flatMap((name) => emulator.stored(name).flatMap(linksOf))
    .filter(([target, id]) => !ids.get(target)?.has(id))
  expect(dangling).toEqual([])
})

it('lets the totals follow the clockings', async () => {
  const emulator = await startEmulator({ people: 2, months: 1 })
  emulators.push(emulator)
  const seen = emulator.all('clockings').length
  for (let seed = 1; emulator.all('clockings').length === seen; seed += 1) {
    emulator.randomChanges({ softDeletes: 3, seed })
  }
  const totals = emulator.all('calculated-totals')
  const present = ({ person, date }: Fields) =>
    presence(
      emulator
        .all('clockings')
        .filter((one) => one['date'] === date && idOf(one['person']) === idOf(person)),
    )
  expect(totals.map((one) => one['timePresentDurationInMinutes'])).toEqual(totals.map(present))
})

function idOf(value: unknown): unknown {
  return (value as Fields)['id']
}

function linksOf(record: Fields): [string, unknown][] {
  return Object.entries(record).flatMap(([property, value]) =>
    (Array.isArray(value) ? value : [value]).flatMap((inner): [string, unknown][] => {
      if (typeof inner !== 'object' || inner === null) return []
      const target = relations[property]
      const own: [string, unknown][] = target && target !== 'terminals' ? [[target, inner.id]] : []
      return [...own, ...linksOf(inner)]
    }),
  )
}
