import { addDays } from '../clock.ts'
import type { Fields } from '../store.ts'
import { type Context, link, type Make, person } from './context.ts'
import { firstNames, lastNames, sometimes, streets, towns } from './words.ts'

function someone({ random, store, date }: Context): Fields {
  const number = store.records('people').length + 1
  const [town, postalCode] = random.pick(towns)
  const firstName = random.pick(firstNames)
  return {
    periodClosingDate: addDays(date, -random.int(20, 60)),
    lastName: random.pick(lastNames),
    firstName,
    employeeNumber: `E${String(number).padStart(5, '0')}-${store.sequence()}`,
    badgeNumber: String(900_000 + store.sequence()),
    inServiceDate: addDays(date, -random.int(900, 6000)),
    sex: random.pick(['Female', 'Male', 'Other', 'Unknown']),
    birthDate: `${random.int(1960, 2004)}-0${random.int(1, 9)}-${random.int(10, 28)}`,
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
    ...sometimes(random, 0.08, { outOfServiceDate: addDays(date, random.int(30, 400)) }),
  }
}

function contract(context: Context): Fields {
  const { random, date } = context
  const percentage = random.pick([100, 80, 50, 62.5])
  return {
    person: person(context),
    code: `CT-${random.int(100, 999)}`,
    from: addDays(date, -random.int(100, 2000)),
    ...sometimes(random, 0.3, { until: addDays(date, random.int(30, 900)) }),
    contractHoursInMinutes: Math.round(2280 * percentage) / 100,
    fullTimeEquivalentInMinutes: 2280,
    contractPercentage: percentage,
    numberOfWorkingDaysPerWeek: random.pick([5, 4, 2.5]),
    numberOfDaysInContractPeriod: random.pick([7, 14]),
    ...contractKind(context),
  }
}

function contractKind(context: Context): Fields {
  const { random, store, person: id } = context
  const parent = store.records('contracts').find((record) => record.person === id)
  if (!parent || random.chance(0.3)) return { kind: 'Contract' }
  return { kind: 'Addendum', parentContract: { id: parent.id } }
}

const history =
  (property: string, collection: string): Make =>
  (context) => {
    const { random, date } = context
    const active = random.chance(0.7)
    return {
      person: person(context),
      from: addDays(date, -random.int(200, 2000)),
      until: active ? null : addDays(date, -random.int(1, 200)),
      [property]: link(context, collection),
    }
  }

/** Makers of people and of what is known about each of them. */
export const personal: Readonly<Record<string, Make>> = {
  people: someone,
  contracts: contract,
  'department-histories': history('department', 'departments'),
  'employer-histories': history('employer', 'employers'),
  'job-histories': history('job', 'jobs'),
  'job-category-histories': history('jobCategory', 'job-categories'),
  'sector-histories': history('sector', 'sectors'),
  'work-location-histories': history('workLocation', 'work-locations'),
}
