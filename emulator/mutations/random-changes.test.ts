import { afterEach, expect, it } from 'vitest'
import { collections, relations } from '../collections/collections.ts'
import { type Emulator, startEmulator } from '../emulator.ts'
import { rules } from '../generate/test-plausibility.ts'
import type { Fields } from '../store/store.ts'

const emulators: Emulator[] = []
afterEach(async () => {
  for (const one of emulators.splice(0)) await one.close()
})

const wanted = { inserts: 200, updates: 200, deletes: 100, softDeletes: 50, seed: 7 }

async function changed() {
  const emulator = await startEmulator({ people: 6, months: 1 })
  emulators.push(emulator)
  return { emulator, counts: emulator.randomChanges(wanted) }
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

it.each(['job-categories', 'job-histories'])(
  'changes something else of a record of %s whose name is null',
  async (collection) => {
    const emulator = await startEmulator({ people: 1, months: 1 })
    emulators.push(emulator)
    const { id } = emulator.insert(collection, { name: null })
    const before = emulator.stored(collection).find((one) => one['id'] === id)
    emulator.update(collection, id as number)
    const after = emulator.stored(collection).find((one) => one['id'] === id)
    expect(after).not.toEqual(before)
    expect(after).toMatchObject({ name: null })
  },
)

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

it.each(Object.entries(rules))('leaves a tenant where %s', async (_, violations) => {
  const emulator = await startEmulator({ people: 25, months: 1 })
  emulators.push(emulator)
  for (const seed of [1, 2, 3]) emulator.randomChanges({ ...wanted, seed })
  expect(violations(emulator.all)).toEqual([])
})

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
