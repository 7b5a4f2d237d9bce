import { addDays, daysBetween } from '../clock.ts'
import type { Fields, Id } from '../store/store.ts'
import { type Context, type Make, person } from './context.ts'

/** What each collection of histories says of people: its property, and the collection it links to. */
const categories: Readonly<Record<string, readonly [property: string, target: string]>> = {
  'department-histories': ['department', 'departments'],
  'employer-histories': ['employer', 'employers'],
  'job-histories': ['job', 'jobs'],
  'job-category-histories': ['jobCategory', 'job-categories'],
  'sector-histories': ['sector', 'sectors'],
  'work-location-histories': ['workLocation', 'work-locations'],
}

/**
 * What a person was from the first day of employment on: periods that follow each other without a
 * gap, the last one open.
 */
export function historyOf(collection: string, context: Context, hired: string): Fields[] {
  const days = daysBetween(hired, context.date)
  const changes = context.random.chance(0.3) ? context.random.int(1, 2) : 0
  const starts = [0, ...Array.from({ length: changes }, () => context.random.int(1, days - 1))]
  const periods: Fields[] = []
  for (const start of [...new Set(starts)].sort((a, b) => a - b)) {
    const from = addDays(hired, start)
    const before = periods.at(-1)
    if (before) before['until'] = addDays(from, -1)
    periods.push(openPeriod(collection, { ...context, date: from }, before))
  }
  return periods
}

/** A period from the context's date on, with another link than the one before. */
export function openPeriod(collection: string, context: Context, before: Fields = {}): Fields {
  const link = relinked(collection, before, context)
  return { person: person(context), from: context.date, until: null, ...link }
}

/** Another link for a record of a history; where possible, none that the person has already. */
export function relinked(
  collection: string,
  before: Fields,
  { random, store }: Pick<Context, 'random' | 'store'>,
): Fields {
  const [property, target] = categories[collection] ?? []
  if (!property || !target) throw new Error(`${collection} is no collection of histories`)
  const linkOf = (record: Fields) => (record[property] as { id: Id } | undefined)?.id
  const owner = (before['person'] as { id: Id } | undefined)?.id
  const own = store.records(collection).about(owner)
  const known = new Set(own.map(({ text }) => linkOf(JSON.parse(text))))
  const all = [...store.records(target)]
  const records = all.filter(({ id }) => id !== linkOf(before))
  const fresh = records.filter(({ id }) => !known.has(id))
  const [choices = []] = [fresh, records, all].filter(({ length }) => length > 0)
  return { [property]: { id: choices.length === 0 ? 1 : random.pick(choices).id } }
}

/** Makers of one open period of each kind of history. */
export const histories: Readonly<Record<string, Make>> = Object.fromEntries(
  Object.keys(categories).map((collection) => [
    collection,
    (context: Context) => openPeriod(collection, context),
  ]),
)
