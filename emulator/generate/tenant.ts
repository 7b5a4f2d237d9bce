import { addDays, dateOf, daysBetween } from '../clock.ts'
import { collections, schemaCollections } from '../collections/collections.ts'
import type { ResolvedOptions } from '../options.ts'
import type { References } from '../references/references.ts'
import type { Store } from '../store/store.ts'
import type { Context } from './context.ts'
import { plannedAbsence } from './dated.ts'
import { histories, historyOf } from './histories.ts'
import { dueOn } from './hours.ts'
import { makeRecord } from './make-record.ts'
import { hiredOn } from './people.ts'
import { createRandom, type Random } from './random.ts'
import { referenceData } from './reference-data.ts'
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

  for (const collection of Object.keys(referenceData)) {
    for (let count = sizeOf(collection); count > 0; count -= 1) add(collection, context(today))
  }
  for (let count = options.people; count > 0; count -= 1) {
    const { id } = add('people', context(today))
    const at = context(today, Number(id))
    add('contracts', at)
    if (random.chance(0.4)) add('contracts', at)
    const hired = hiredOn(store, id)
    for (const collection of Object.keys(histories)) {
      for (const period of historyOf(collection, at, hired)) store.load(collection, period)
    }
  }
  generateDays(options, context, store)
  generateFuture(options, context, store)
  generateReferences(store, references, random)
  generateFromSchemas(options, store)
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
  if (collection.endsWith('-groups')) return 4
  return collection === 'employers' ? 3 : 7
}

type ContextOf = (date: string, person?: number) => Context

/** The days from the first one to yesterday. */
function pastDays(options: ResolvedOptions): string[] {
  const length = daysBetween(firstDay(options), dateOf(new Date(options.now))) - 1
  return Array.from({ length }, (_, days) => addDays(firstDay(options), days))
}

function generateDays(options: ResolvedOptions, context: ContextOf, store: Store): void {
  const balances = new Map<number, number>()
  const hired = store.records('people').map(({ id }) => hiredOn(store, id))
  for (const date of pastDays(options)) {
    for (let person = 1; person <= options.people; person += 1) {
      if (date < (hired[person - 1] ?? date)) continue
      const add = store.load
      balances.set(person, workday(context(date, person), add, balances.get(person) ?? 0))
    }
  }
}

function generateFuture(options: ResolvedOptions, context: ContextOf, store: Store): void {
  const today = dateOf(new Date(options.now))
  for (let person = 1; person <= options.people; person += 1) {
    const { random } = context(today, person)
    for (let days = random.int(1, 20); days <= daysAhead; days += random.int(10, 45)) {
      const date = addDays(today, days)
      if (dueOn(date) === 0) continue
      const at = context(date, person)
      if (random.chance(0.5)) store.load('absences', plannedAbsence(at))
      else store.load('assignments', makeRecord('assignments', at))
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

/**
 * Adds records of the collections that only a schema describes: one per person, or on some days of
 * each person. Their chances are their own, so that the rest of the tenant does not depend on them.
 */
function generateFromSchemas(options: ResolvedOptions, store: Store): void {
  for (const collection of Object.keys(schemaCollections)) {
    const random = createRandom(options.seed)
    const isDated = collections[collection]?.dateField !== undefined
    for (const date of isDated ? pastDays(options) : [dateOf(new Date(options.now))]) {
      for (const { id: person } of store.records('people')) {
        if (isDated && !random.chance(0.3)) continue
        store.load(collection, makeRecord(collection, { random, store, date, person }))
      }
    }
  }
}
