import { addDays, daysBetween } from '../clock.ts'
import type { Fields, Id, Store } from '../store/store.ts'
import { type Context, type Make, person, type Random } from './random.ts'
import {
  anyonesNames,
  lastNames,
  mensNames,
  sometimes,
  streets,
  towns,
  womensNames,
} from './words.ts'

/** The property of each collection of histories that refers to another collection, and that collection. */
const categories: Readonly<Record<string, readonly [property: string, target: string]>> = {
  'department-histories': ['department', 'departments'],
  'employer-histories': ['employer', 'employers'],
  'job-histories': ['job', 'jobs'],
  'job-category-histories': ['jobCategory', 'job-categories'],
  'sector-histories': ['sector', 'sectors'],
  'work-location-histories': ['workLocation', 'work-locations'],
}

/**
 * The history of a person in one collection, from the first day of employment on: periods that follow each other without
 * a gap, of which the last one is open.
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

/** Another link for a record of a history, if possible one that the person has not had yet. */
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

/** The longest time that anybody has been in service, in days. */
export const mostDaysInService = 6000

function someone({ random, store, date }: Context): Fields {
  const number = store.records('people').length + 1
  const [town, postalCode] = random.pick(towns)
  const { firstName, sex } = identity(random)
  const daysInService = random.int(900, mostDaysInService)
  // Hired at 17 or later, and 65 at most.
  const daysOfLife = random.int(daysInService + 17 * 366, 65 * 365)
  return {
    periodClosingDate: addDays(date, -random.int(20, 60)),
    lastName: random.pick(lastNames),
    firstName,
    employeeNumber: `E${String(number).padStart(5, '0')}-${store.sequence()}`,
    badgeNumber: String(900_000 + store.sequence()),
    inServiceDate: addDays(date, -daysInService),
    sex,
    birthDate: addDays(date, -daysOfLife),
    terminalLanguageISOCode: random.pick(['nl', 'fr', 'en']),
    ...sometimes(random, 0.8, {
      hourlyRateCurrencyDefinition: { id: 1 },
      advanceCurrencyDefinition: { id: 1 },
      initials: `${firstName.slice(0, 1)}.`,
      telephone: `+32 9 555 ${random.int(1000, 9999)}`,
      mobile: `+32 470 55 ${random.int(1000, 9999)}`,
      email: `person.${number}@example.org`,
      address: `${random.pick(streets)} ${random.int(1, 300)}`,
      postalCode,
      town,
      countryISOCode: 'BE',
      nationalityISOCode: random.pick(['BE', 'FR', 'NL', 'PL']),
      maritalStatus: random.pick(['Single', 'Married', 'Divorced', 'LivingTogether', 'Unknown']),
      placeOfBirth: random.pick(towns)[0],
      drivingLicense: `DL-${number}`,
      registerNumber: `R-${number}`,
      passportNumber: `XX${random.int(100_000, 999_999)}`,
      socialSecurityNumber: `00.00.00-${random.int(100, 999)}.00`,
      bankAccount: `BE00 0000 ${random.int(1000, 9999)} 0000`,
      wtdStartDate: addDays(date, -random.int(100, 800)),
      payGroup: random.pick(['PG1', 'PG2']),
      hourlyRate: random.int(1300, 4200) / 100,
      maxAdvance: random.int(0, 50_000) / 100,
      terminalGroup: { id: random.int(1, 3) },
      pinCode: random.int(1000, 9999),
    }),
    ...sometimes(random, 0.08, { outOfServiceDate: addDays(date, random.int(90, 400)) }),
  }
}

function identity(random: Random): { firstName: string; sex: string } {
  if (random.chance(0.04)) {
    const sex = random.pick(['Female', 'Male', 'Other', 'Unknown'])
    return { firstName: random.pick(anyonesNames), sex }
  }
  return random.chance(0.5)
    ? { firstName: random.pick(womensNames), sex: 'Female' }
    : { firstName: random.pick(mensNames), sex: 'Male' }
}

const schedules = [
  { percentage: 100, days: 5 },
  { percentage: 80, days: 4 },
  { percentage: 62.5, days: 4 },
  { percentage: 50, days: 2.5 },
]

/** The contract from the day of hiring on; from the second on, addenda to it. */
function contract(context: Context): Fields {
  const { random, store } = context
  const { percentage, days } = random.pick(schedules)
  return {
    person: person(context),
    code: `CT-${store.sequence()}`,
    contractHoursInMinutes: Math.round(2280 * percentage) / 100,
    fullTimeEquivalentInMinutes: 2280,
    contractPercentage: percentage,
    numberOfWorkingDaysPerWeek: days,
    numberOfDaysInContractPeriod: random.pick([7, 14]),
    ...termsOf(context),
  }
}

function termsOf({ random, store, date, person: id }: Context): Fields {
  const { inServiceDate = date, outOfServiceDate } = personOf(store, id)
  const from = String(inServiceDate)
  const [parent] = store.records('contracts').about(id)
  if (!parent) {
    const until = outOfServiceDate === undefined ? {} : { until: outOfServiceDate }
    return { from, ...until, kind: 'Contract' }
  }
  const days = Math.max(1, daysBetween(from, date) - 1)
  return {
    from: addDays(from, random.int(1, days)),
    ...sometimes(random, 0.3, { until: addDays(date, random.int(30, 900)) }),
    kind: 'Addendum',
    parentContract: { id: parent.id },
  }
}

/** The first day of employment of somebody who exists. */
export function hiredOn(store: Store, person: Id): string {
  return String(personOf(store, person)['inServiceDate'])
}

function personOf(store: Store, id: Id): Fields {
  return JSON.parse(store.find('people', id)?.text ?? '{}')
}

/** Makers of people and of what is known about each of them. */
export const personal: Readonly<Record<string, Make>> = {
  people: someone,
  contracts: contract,
  ...histories,
}
