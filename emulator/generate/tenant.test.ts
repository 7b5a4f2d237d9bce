import { expect, it } from 'vitest'
import { collections } from '../collections/collections.ts'
import { startEmulator } from '../emulator.ts'
import { resolveOptions } from '../options.ts'
import { createReferences } from '../references/references.ts'
import { createStore, type Fields, type Store } from '../store/store.ts'
import { createRandom } from './random.ts'
import { checkTenantSize, firstDay, generateTenant } from './tenant.ts'
import { documentedFields, rules } from './test-plausibility.ts'

function tenant(given: Parameters<typeof resolveOptions>[0] = {}): Store {
  const options = resolveOptions(given)
  const store = createStore()
  generateTenant(options, store, createReferences(store, options), createRandom(options.seed))
  return store
}

const rows = (store: Store, collection: string): Fields[] =>
  store.records(collection).map(({ text }) => JSON.parse(text))
const texts = (store: Store) =>
  Object.keys(collections).map((name) => store.records(name).map(({ text }) => text))

const large = tenant({ people: 60, months: 2 })

it('is the same tenant for the same seed', () => {
  expect(texts(tenant({ people: 5, months: 1 }))).toEqual(texts(tenant({ people: 5, months: 1 })))
})

it('is another tenant for another seed', () => {
  const [one, two] = [1, 2].map((seed) => texts(tenant({ people: 5, months: 1, seed })))
  expect(one).not.toEqual(two)
})

it('is empty without people', () => {
  expect(texts(tenant({ people: 0 })).flat()).toEqual([])
})

it.each(Object.keys(documentedFields))('has every documented field of %s somewhere', (name) => {
  const found = new Set(rows(large, name).flatMap((row) => pathsOf(row)))
  const missing = documentedFields[name]?.split(' ').filter((path) => !found.has(path))
  expect(missing).toEqual([])
})

it('has clockings at odd times', () => {
  const times = rows(large, 'clockings').map((row) => Number(row['timeOfDayInMinutes']))
  expect([Math.min(...times) < 0, Math.max(...times) > 1439]).toEqual([true, true])
})

it.each(Object.entries(rules))('%s', (_, violations) => {
  expect(violations((collection) => rows(large, collection))).toEqual([])
})

it('has paid presences that add up to the totals', () => {
  const sum = (collection: string, property: string) =>
    rows(large, collection).reduce((total, row) => total + Number(row[property]), 0)
  expect(sum('paid-presences', 'durationInMinutes')).toBe(
    sum('calculated-totals', 'calculatedPresenceDurationInMinutes'),
  )
})

it('looks months ahead with absences and assignments', () => {
  const latest = ['absences', 'assignments'].map((name) =>
    [...large.records(name)].reduce((last, { date = '' }) => (date > last ? date : last), ''),
  )
  expect(latest.every((date) => date > '2027-03-01')).toBe(true)
})

it('starts as many months before now as told, on a day that exists', () => {
  expect(firstDay(resolveOptions({ now: '2026-03-31T00:00:00Z', months: 1 }))).toBe('2026-02-28')
})

function pathsOf(value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return [path, ...value.flatMap((inner) => pathsOf(inner, path))]
  if (typeof value !== 'object' || value === null) return [path]
  const inner = Object.entries(value).flatMap(([name, one]) =>
    pathsOf(one, path === '' ? name : `${path}.${name}`),
  )
  return [path, ...inner]
}

it('has room for 3,000 people and 24 months in 4 GB', () => {
  expect(() => checkTenantSize({ people: 3000, months: 24 }, 4e9)).not.toThrow()
})

it('refuses a tenant that does not fit into memory, before it makes one', async () => {
  const started = startEmulator({ people: 100_000_000, months: 24 })
  await expect(started).rejects.toThrow(
    /^100000000 people and 24 months are about 401000 million records, which need [\d.]+ GB of memory. There are [\d.]+ GB: take fewer people or months.$/,
  )
})
