import { totalmem } from 'node:os'
import { addDays, dateOf, daysBetween, isDate } from '../clock.ts'
import {
  collections,
  type SchemaCollection,
  schemaCollections,
} from '../collections/collections.ts'
import type { ResolvedOptions } from '../options.ts'
import type { References } from '../references/references.ts'
import type { Fields, Store } from '../store/store.ts'
import { openBytes } from '../store/versions.ts'
import {
  clockingAt,
  dated,
  dueOn,
  minutesBetween,
  otherKind,
  plannedAbsence,
  totalsOf,
  wholeDay,
} from './dated.ts'
import { hiredOn, histories, historyOf, mostDaysInService, personal } from './people.ts'
import { type Context, createRandom, link, type Make, type Random } from './random.ts'
import { referenceData } from './reference-data.ts'

/** Adds a record to the tenant. */
type Add = (collection: string, fields: Fields) => void

/**
 * Adds one person's day: clockings in and out, and the totals, paid presences and breaks that follow from them. Returns
 * the flextime balance after the day.
 */
function workday(context: Context, add: Add, balance: number): number {
  const { random, date } = context
  const due = dueOn(date)
  const free = due === 0 && (new Date(date).getUTCDay() === 0 || random.chance(0.93))
  const make = (collection: string, fields: Fields = {}) =>
    add(collection, { ...dated[collection]?.(context), ...fields })

  if (free) return finish(context, add, 0, 0, balance)
  if (due > 0 && random.chance(0.07)) {
    make('absences', absentAllDay)
    return finish(context, add, 0, due, balance + due)
  }
  const times = clockingTimes(context)
  for (const time of times) add('clockings', clockingAt(context, time, { kind: 'InOut' }))
  for (const clocking of otherClockings(context, times)) add('clockings', clocking)
  if (times.length === 4) make('breaks', breakBetween(times))
  if (random.chance(0.5)) make('access-clockings')
  if (random.chance(0.35)) make('counters')
  if (random.chance(0.45)) make('activity-durations')
  if (random.chance(0.05)) make('work-interruptions')
  if (random.chance(0.06)) make('assignments')
  return finish(context, add, minutesBetween(times), due, balance)
}

const absentAllDay = {
  startTimeInMinutes: 480,
  durationInMinutes: wholeDay,
  calculatedDurationInMinutes: wholeDay,
  dayPart: 'Unknown',
  approvalLevel: 'Approved',
}

function clockingTimes({ random }: Context): number[] {
  const night = random.chance(0.03)
  // Some night shifts begin on the day before the one that they count for; most end on the day after it.
  const evening = random.chance(0.1) ? -random.int(5, 60) : random.int(1290, 1350)
  const start = night ? evening : random.int(420, 560)
  const end = start + random.int(430, 540)
  const lunch = start + random.int(200, 280)
  const times =
    night || random.chance(0.4) ? [start, end] : [start, lunch, lunch + random.int(20, 60), end]
  // Sometimes somebody forgets a clocking.
  if (random.chance(0.02)) times.splice(random.int(0, times.length - 1), 1)
  return times
}

function otherClockings(context: Context, times: readonly number[]): Fields[] {
  const { random } = context
  if (!random.chance(0.06)) return []
  const [start = 0] = times
  return [
    clockingAt(context, start + random.int(1, 60), otherKind(context)),
    ...(random.chance(0.5)
      ? [clockingAt(context, start + random.int(61, 120), { kind: 'ActivityEnd' })]
      : []),
  ]
}

function breakBetween([, start = 0, end = 0]: readonly number[]): Fields {
  const minutes = end - start
  return {
    clockedDurationInMinutes: minutes,
    calculatedDurationInMinutes: Math.max(30, minutes),
    isBreakTaken: true,
  }
}

function finish(context: Context, add: Add, present: number, due: number, balance: number): number {
  const totals = totalsOf(context, present, due, balance)
  add('calculated-totals', totals)
  const counted = Number(totals['calculatedPresenceDurationInMinutes'])
  const parts = counted > 240 && context.random.chance(0.2) ? [240, counted - 240] : [counted]
  for (const part of counted > 0 ? parts : []) {
    const paid = dated['paid-presences']?.(context) ?? {}
    add('paid-presences', { ...paid, durationInMinutes: part })
  }
  return Number(totals['flextimeBalanceInMinutes'])
}

/** Days ahead of now for which there are absences and assignments. */
const daysAhead = 180

/**
 * Fills an empty store with the tenant that the options describe; a tenant without people has no records at all.
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
 * each person. They have their own random numbers, so that the rest of the tenant does not depend on them.
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

/** Numbers of records in a tenant and bytes per record, rounded up from measurements. */
const RECORDS = { perPerson: 50, perMonth: 165 }
const BYTES = { asText: 330, held: 100 }

/**
 * Throws an error with a sentence if a tenant of this size needs more memory than there is.
 */
export function checkTenantSize(
  { people, months }: Pick<ResolvedOptions, 'people' | 'months'>,
  memory = memoryThereIs(),
): void {
  const inService = Math.min(months, mostDaysInService / 30)
  const records = people * (RECORDS.perPerson + inService * RECORDS.perMonth)
  const needed = records * BYTES.held + Math.min(records * BYTES.asText, openBytes)
  if (needed <= memory) return
  const size = `${people} people and ${months} months are about ${Math.ceil(records / 1e6)} million records`
  throw new RangeError(
    `${size}, which need ${gigabytes(needed)} of memory. There are ${gigabytes(memory)}: take fewer people or months.`,
  )
}

// On macOS the free memory says little, because the system frees more when it is needed.
function memoryThereIs(): number {
  return process.platform === 'darwin' ? totalmem() : process.availableMemory()
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`
}

/**
 * Makes a record like one of the examples of a schema: about the context's person and day, and
 * linked to what the store holds.
 */
function likeExamples({ facts, relations, examples }: SchemaCollection): Make {
  return (context) => {
    const { id: _id, changeVersion: _version, ...fields } = context.random.pick(examples)
    const date = facts.dateField && fields[facts.dateField]
    const days = typeof date === 'string' ? daysBetween(date, context.date) - 1 : 0
    return copyOf(fields, { context, relations, days }) as Fields
  }
}

/** Makers of the records of which only the schema is known. */
const fromSchema: Readonly<Record<string, Make>> = Object.fromEntries(
  Object.entries(schemaCollections).map(([name, collection]) => [name, likeExamples(collection)]),
)

interface Copy {
  readonly context: Context
  readonly relations: SchemaCollection['relations']
  /** By how much dates move. */
  readonly days: number
}

function copyOf(value: unknown, copy: Copy): unknown {
  if (Array.isArray(value)) return value.map((item) => copyOf(item, copy))
  if (typeof value === 'string') return isDate(value) ? addDays(value, copy.days) : value
  if (typeof value !== 'object' || value === null) return value
  const properties = Object.entries(value).filter(([name]) => name !== 'externalReferences')
  return Object.fromEntries(
    properties.map(([name, inner]) => [name, propertyOf(name, inner, copy)]),
  )
}

function propertyOf(name: string, value: unknown, copy: Copy): unknown {
  const copied = copyOf(value, copy)
  const target = copy.relations[name]
  if (target === undefined || value === null) return copied
  const linked = (object: unknown) => ({ ...Object(object), ...linkTo(name, target, copy.context) })
  return Array.isArray(copied) ? copied.map(linked) : linked(copied)
}

function linkTo(property: string, target: string, context: Context): Fields {
  return property === 'person' ? { id: context.person } : link(context, target)
}

const makers = { ...fromSchema, ...referenceData, ...personal, ...dated }

/** A plausible record of any collection, related to what the store holds. */
export function makeRecord(collection: string, context: Context): Fields {
  const make = makers[collection]
  if (!make) throw new Error(`The emulator makes no records of ${collection}`)
  const fields = make(context)
  return collections[collection]?.hasGuids ? { id: context.random.guid(), ...fields } : fields
}
