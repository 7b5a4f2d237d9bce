import { addDays, dateOf } from '../clock.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Random } from '../random.ts'
import type { References } from '../references.ts'
import type { Store } from '../store.ts'
import { catalogues } from './catalogues.ts'
import type { Context } from './context.ts'
import { makeRecord } from './make.ts'
import { personal } from './people.ts'
import { workday } from './workday.ts'

/** Days ahead of now for which there are absences and assignments. */
const daysAhead = 180

/**
 * Fills an empty store with the tenant that the options describe; nothing when it has no people.
 */
export function generateTenant(
  options: ResolvedOptions,
  store: Store,
  references: References,
  random: Random,
): void {
  if (options.people === 0) return
  const today = dateOf(new Date(options.now))
  const context = (date: string, person = 0): Context => ({ random, store, date, person })
  const add = (collection: string, at: Context) =>
    store.load(collection, makeRecord(collection, at))

  for (const collection of Object.keys(catalogues)) {
    for (let count = sizeOf(collection); count > 0; count -= 1) add(collection, context(today))
  }
  for (let count = options.people; count > 0; count -= 1) {
    const { id } = add('people', context(today))
    for (const collection of Object.keys(personal).slice(1))
      add(collection, context(today, Number(id)))
    if (random.chance(0.4)) add('contracts', context(today, Number(id)))
    if (random.chance(0.3)) add('department-histories', context(today, Number(id)))
  }
  generateDays(options, context, store)
  generateFuture(options, context, add)
  generateReferences(store, references, random)
}

/** The first day of dated records. */
export function firstDay({ now, months }: ResolvedOptions): string {
  const start = new Date(now)
  const day = start.getUTCDate()
  start.setUTCDate(1)
  start.setUTCMonth(start.getUTCMonth() - months)
  const lastOfMonth = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 0))
  start.setUTCDate(Math.min(day, lastOfMonth.getUTCDate()))
  return dateOf(start)
}

function sizeOf(collection: string): number {
  if (collection === 'activity-definitions') return 16
  return collection.endsWith('-groups') || collection === 'employers' ? 3 : 7
}

type ContextOf = (date: string, person?: number) => Context

function generateDays(options: ResolvedOptions, context: ContextOf, store: Store): void {
  const balances = new Map<number, number>()
  const today = dateOf(new Date(options.now))
  for (let date = firstDay(options); date < today; date = addDays(date, 1)) {
    for (let person = 1; person <= options.people; person += 1) {
      const add = store.load
      balances.set(person, workday(context(date, person), add, balances.get(person) ?? 0))
    }
  }
}

function generateFuture(
  options: ResolvedOptions,
  context: ContextOf,
  add: (collection: string, at: Context) => unknown,
): void {
  const today = dateOf(new Date(options.now))
  for (let person = 1; person <= options.people; person += 1) {
    const { random } = context(today, person)
    for (let days = random.int(1, 20); days <= daysAhead; days += random.int(10, 45)) {
      const at = context(addDays(today, days), person)
      add(random.pick(['absences', 'assignments']), at)
    }
  }
}

function generateReferences(store: Store, references: References, random: Random): void {
  const give = (collection: string, name: string, letter: string) => {
    for (const { id } of store.records(collection)) {
      if (random.chance(0.8)) references.set(collection, name, `${letter}/${id} "é"`, id)
    }
  }
  give('people', 'payroll', 'P')
  give('departments', 'cost-center', 'K')
  give('contracts', 'archive', 'C')
  give('activity-definitions', 'erp', 'X')
  give('terminals', 'asset', 'T')
}
