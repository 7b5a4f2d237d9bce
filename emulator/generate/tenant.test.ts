import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addDays } from '../clock.ts'
import { collections, relations } from '../collections/collections.ts'
import { type Emulator, startEmulator } from '../emulator.ts'
import { resolveOptions } from '../options.ts'
import { createReferences } from '../references/references.ts'
import { createStore, type Fields, type Store } from '../store/store.ts'
import { presence } from './dated.ts'
import { createRandom } from './random.ts'
import { checkTenantSize, firstDay, generateTenant } from './tenant.ts'
import { mensNames, womensNames } from './words.ts'

/**
 * Every documented field of every collection, with dots between the parts of a path.
 */
const documentedFields: Readonly<Record<string, string>> = {
  absences:
    'changeVersion id person.id resultingAbsenceDefinition.id requestedAbsenceDefinition.id shiftDefinition.id date startTimeInMinutes durationInMinutes calculatedDurationInMinutes dayPart request.id status approvalLevel isLocked periodType',
  'absence-definitions':
    'changeVersion id name.default name.translations code friendlyName.default friendlyName.translations friendlyCode.default friendlyCode.translations allowedDurations isEnabled isReasonForClocking absenceGroup.id',
  'absence-groups': 'changeVersion id name.default name.translations type',
  'access-clockings': 'changeVersion id person.id date timeOfDayInMinutes terminal.id status',
  'activity-definitions':
    'id structureVersion level changeVersion name.default name.translations parent.id shortCode dataEntryCode externalReference info activeFrom activeUntil canConfigureRestrictions',
  'activity-durations':
    'changeVersion id person.id date durationInMinutes activityLevels.level activityLevels.activityDefinition.id absenceDefinition.id request.id counterDefinitions.id shiftDefinition.id status isAuthorized timeOfDayInMinutes calculatedTimeOfDayInMinutes isGenerated kind',
  'break-definitions':
    'changeVersion id name.default name.translations friendlyName.default friendlyName.translations paidDurationInMinutes minimumDurationInMinutes maximumDurationInMinutes ifNotClockedDurationInMinutes hasToBeTakenUninterrupted',
  breaks:
    'changeVersion id person.id breakDefinition.id date calculatedDurationInMinutes clockedDurationInMinutes startTimeInMinutes endTimeInMinutes isBreakTaken',
  'calculated-totals':
    'changeVersion id person.id date normalTimeDurationInMinutes timePresentDurationInMinutes calculatedPresenceDurationInMinutes weeklyHours1DurationInMinutes weeklyHours2DurationInMinutes weeklyHours3DurationInMinutes payPeriodHoursDurationInMinutes flextimeDurationInMinutes flextimeBalanceInMinutes shiftDefinition.id',
  clockings:
    'changeVersion id person.id date timeOfDayInMinutes originalTimeOfDayInMinutes calculatedTimeOfDayInMinutes isGenerated terminal.id geolocation.longitude geolocation.latitude kind reason.id isOpen activityLevels.level activityLevels.activityDefinition.id status',
  contracts:
    'changeVersion id person.id code from until contractHoursInMinutes fullTimeEquivalentInMinutes contractPercentage numberOfWorkingDaysPerWeek numberOfDaysInContractPeriod kind parentContract.id',
  counters:
    'changeVersion id shiftDefinition.id numberOfInstances request.id status isAuthorized person.id periodType counterDefinition.id date startTimeInMinutes endTimeInMinutes durationInMinutes',
  'counter-definitions':
    'changeVersion id name.default name.translations code friendlyName.default friendlyName.translations friendlyCode.default friendlyCode.translations isEnabled counterGroup.id unit',
  'counter-groups': 'changeVersion id name.default name.translations',
  departments: 'changeVersion id name.default name.translations externalCode',
  employers:
    'changeVersion id name.default name.translations externalCode address town postalCode bankAccount companyRegistrationNumber',
  'job-categories': 'changeVersion id name.default name.translations externalCode',
  jobs: 'changeVersion id name.default name.translations',
  'paid-presences': 'changeVersion id person.id date durationInMinutes shiftDefinition.id',
  people:
    'id changeVersion periodClosingDate hourlyRateCurrencyDefinition.id advanceCurrencyDefinition.id lastName firstName initials telephone mobile email address postalCode town countryISOCode nationalityISOCode sex maritalStatus birthDate placeOfBirth drivingLicense registerNumber passportNumber socialSecurityNumber bankAccount inServiceDate outOfServiceDate wtdStartDate employeeNumber payGroup hourlyRate maxAdvance terminalGroup.id badgeNumber pinCode terminalLanguageISOCode',
  'shift-definitions':
    'changeVersion id name.default name.translations code friendlyName.default friendlyName.translations isEnabled',
  'work-interruptions':
    'changeVersion id person.id date durationInMinutes startTimeInMinutes endTimeInMinutes',
  'work-locations': 'changeVersion id name.default name.translations description',
  assignments:
    'changeVersion id person.id from until startTimeInMinutes endTimeInMinutes breakDurationInMinutes comments activityLevels.level activityLevels.activityDefinition.id isRejected',
  sectors: 'changeVersion id name.default name.translations',
  'department-histories': 'id changeVersion person.id from until department.id',
  'employer-histories': 'id changeVersion person.id from until employer.id',
  'job-histories': 'id changeVersion person.id from until job.id',
  'job-category-histories': 'id changeVersion person.id from until jobCategory.id',
  'sector-histories': 'id changeVersion person.id from until sector.id',
  'work-location-histories': 'id changeVersion person.id from until workLocation.id',
}

/** All records of a collection. */
type Read = (collection: string) => readonly Fields[]

/** The violations of each rule of a plausible tenant; none if the rule is kept. */
const rules: Readonly<Record<string, (read: Read) => unknown[]>> = {
  'everybody is in one department at a time': (read) => broken('department', read),
  'everybody has one employer at a time': (read) => broken('employer', read),
  'everybody has one job at a time': (read) => broken('job', read),
  'everybody has one job category at a time': (read) => broken('job-category', read),
  'everybody is in one sector at a time': (read) => broken('sector', read),
  'everybody has one work location at a time': (read) => broken('work-location', read),
  'nobody moves to where they are': (read) =>
    successors(read('department-histories')).filter(
      ([before, after]) => idOf(before['department']) === idOf(after['department']),
    ),
  'the hours by department are those of all totals': (read) => {
    const total = sum(read('calculated-totals'))
    const byDepartment = sum(totalsByDepartment(read))
    return total > 0 && byDepartment === total ? [] : [{ byDepartment, total }]
  },
  'a person and day has one total': (read) => repeated(read('calculated-totals').map(dayOf)),
  'no day is left out of the totals of a person': (read) =>
    [...groupBy(read('calculated-totals'), (row) => idOf(row['person']))].filter(([, rows]) => {
      const dates = rows.map(({ date }) => String(date)).sort()
      return dates.some((date, at) => at > 0 && date !== addDays(dates[at - 1] ?? '', 1))
    }),
  'totals are those of the clockings': (read) => {
    const clockings = groupBy(read('clockings'), dayOf)
    return read('calculated-totals').filter(
      (row) => row['timePresentDurationInMinutes'] !== presence(clockings.get(dayOf(row)) ?? []),
    )
  },
  'people clock in and out, and rarely forget one': (read) => {
    const live = read('clockings').filter((row) => row['kind'] === 'InOut')
    const days = [...groupBy(live, dayOf).values()]
    const odd = days.filter(({ length }) => length % 2 === 1).length
    return odd > 0 && odd < 0.05 * days.length ? [] : [{ odd, days: days.length }]
  },
  'people are hired between 16 and 67': (read) =>
    read('people').filter((row) => {
      const birthDate = String(row['birthDate'])
      const hired = String(row['inServiceDate'])
      return hired < yearsAfter(birthDate, 16) || hired >= yearsAfter(birthDate, 67)
    }),
  'the sex fits the first name, and is rarely unknown': (read) => {
    const people = read('people')
    const odd = people.filter(({ sex }) => sex === 'Unknown' || sex === 'Other')
    const wrong = people.filter(
      ({ firstName, sex }) =>
        (mensNames.includes(String(firstName)) && sex !== 'Male') ||
        (womensNames.includes(String(firstName)) && sex !== 'Female'),
    )
    return odd.length < 0.1 * people.length ? wrong : odd
  },
  'the names of reference data are unique and without numbers': (read) =>
    named.flatMap((collection) => {
      const names = read(collection).map((row) => String((row['name'] as Fields)['default']))
      return [...repeated(names), ...names.filter((name) => /\d|\(was/.test(name))]
    }),
}

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

it('has absences and assignments months ahead', () => {
  const latest = ['absences', 'assignments'].map((name) =>
    [...large.records(name)].reduce((last, { date = '' }) => (date > last ? date : last), ''),
  )
  expect(latest.every((date) => date > '2027-03-01')).toBe(true)
})

it('starts the given number of months before now, on a day that exists', () => {
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

it('fits 3,000 people and 24 months into 4 GB', () => {
  expect(() => checkTenantSize({ people: 3000, months: 24 }, 4e9)).not.toThrow()
})

it('refuses a tenant that does not fit into memory before generating it', async () => {
  const started = startEmulator({ people: 100_000_000, months: 24 })
  await expect(started).rejects.toThrow(
    /^100000000 people and 24 months are about 401000 million records, which need [\d.]+ GB of memory. There are [\d.]+ GB: take fewer people or months.$/,
  )
})

describe('random changes', () => {
  const running: Emulator[] = []
  afterAll(async () => {
    for (const one of running) await one.close()
  })

  const wanted = { inserts: 200, updates: 200, deletes: 100, softDeletes: 50, seed: 7 }
  const start = async (people: number) => {
    const emulator = await startEmulator({ people, months: 1 })
    running.push(emulator)
    return emulator
  }
  const changed = async () => {
    const emulator = await start(6)
    return { emulator, counts: emulator.randomChanges(wanted) }
  }
  let one: Awaited<ReturnType<typeof changed>>
  let large: Emulator
  beforeAll(async () => {
    one = await changed()
    large = await start(25)
    for (const seed of [1, 2, 3]) large.randomChanges({ ...wanted, seed })
  })

  it('makes the requested number of changes', () => {
    const sum = (kind: 'inserts' | 'deletes' | 'softDeletes') =>
      Object.values(one.counts).reduce((total, one) => total + one[kind], 0)
    expect([sum('inserts'), sum('deletes'), sum('softDeletes')]).toEqual([200, 100, 50])
  })

  it('makes the same changes again for the same seed', async () => {
    const two = await changed()
    const truth = ({ emulator }: typeof one) => Object.keys(collections).map(emulator.stored)
    expect([truth(two), two.counts]).toEqual([truth(one), one.counts])
  })

  it.each(['job-categories', 'job-histories'])(
    'changes something else of a record of %s whose name is null',
    async (collection) => {
      const emulator = await start(1)
      const { id } = emulator.insert(collection, { name: null })
      const before = emulator.stored(collection).find((one) => one['id'] === id)
      emulator.update(collection, id as number)
      const after = emulator.stored(collection).find((one) => one['id'] === id)
      expect(after).not.toEqual(before)
      expect(after).toMatchObject({ name: null })
    },
  )

  it('leaves no link to a record that does not exist', () => {
    const { stored } = one.emulator
    const ids = new Map(
      Object.keys(collections).map((name) => [name, new Set(stored(name).map(({ id }) => id))]),
    )
    const dangling = Object.keys(collections)
      .flatMap((name) => stored(name).flatMap(linksOf))
      .filter(([target, id]) => !ids.get(target)?.has(id))
    expect(dangling).toEqual([])
  })

  it.each(Object.entries(rules))('leaves a tenant where %s', (_, violations) => {
    expect(violations(large.all)).toEqual([])
  })

  function linksOf(record: Fields): [string, unknown][] {
    return Object.entries(record).flatMap(([property, value]) =>
      (Array.isArray(value) ? value : [value]).flatMap((inner): [string, unknown][] => {
        if (typeof inner !== 'object' || inner === null) return []
        const target = relations[property]
        const own: [string, unknown][] =
          target && target !== 'terminals' ? [[target, inner.id]] : []
        return [...own, ...linksOf(inner)]
      }),
    )
  }
})

const named = [
  'departments',
  'employers',
  'jobs',
  'job-categories',
  'sectors',
  'work-locations',
  'shift-definitions',
  'absence-groups',
  'absence-definitions',
  'break-definitions',
  'counter-groups',
  'counter-definitions',
  'activity-definitions',
]

// README's join: a total belongs to the department of the person on that day.
function totalsByDepartment(read: Read): Fields[] {
  const departments = new Set(read('departments').map(({ id }) => id))
  const periods = groupBy(read('department-histories'), (row) => idOf(row['person']))
  return read('calculated-totals').flatMap((total) => {
    const date = String(total['date'])
    return (periods.get(idOf(total['person'])) ?? [])
      .filter((row) => String(row['from']) <= date && date <= String(row['until'] ?? date))
      .filter((row) => departments.has(idOf(row['department'])))
      .map(() => total)
  })
}

// People whose periods do not run from the first day of employment on, without gap and overlap.
function broken(category: string, read: Read): unknown[] {
  const rows = read(`${category}-histories`)
  const gaps = successors(rows).filter(
    ([before, after]) =>
      before['until'] === null || addDays(String(before['until']), 1) !== after['from'],
  )
  const periods = groupBy(rows, (row) => idOf(row['person']))
  const ends = read('people').filter(({ id, inServiceDate }) => {
    const own = [...(periods.get(id) ?? [])].sort(byStart)
    return own[0]?.['from'] !== inServiceDate || own.at(-1)?.['until'] !== null
  })
  return [
    ...gaps,
    ...ends,
    ...rows.filter(({ from, until }) => until !== null && String(until) < String(from)),
  ]
}

// Each period of a person with the next one.
function successors(rows: readonly Fields[]): [Fields, Fields][] {
  return [...groupBy(rows, (row) => idOf(row['person'])).values()].flatMap((own) => {
    const sorted = [...own].sort(byStart)
    return sorted.slice(1).map((row, at): [Fields, Fields] => [sorted[at] as Fields, row])
  })
}

function byStart(one: Fields, other: Fields): number {
  return String(one['from']) < String(other['from']) ? -1 : 1
}

function sum(totals: readonly Fields[]): number {
  return totals.reduce((minutes, row) => minutes + Number(row['timePresentDurationInMinutes']), 0)
}

function repeated(texts: readonly string[]): string[] {
  const seen = new Set<string>()
  return texts.filter((text) => seen.size === seen.add(text).size)
}

function groupBy<K>(rows: readonly Fields[], keyOf: (row: Fields) => K): Map<K, Fields[]> {
  const groups = new Map<K, Fields[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row))
    if (group) group.push(row)
    else groups.set(keyOf(row), [row])
  }
  return groups
}

function dayOf(row: Fields): string {
  return `${idOf(row['person'])} ${row['date']}`
}

function idOf(value: unknown): unknown {
  return (value as Fields | undefined)?.['id']
}

function yearsAfter(date: string, years: number): string {
  return `${Number(date.slice(0, 4)) + years}${date.slice(4)}`
}
