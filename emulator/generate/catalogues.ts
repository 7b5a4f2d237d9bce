import type { Fields } from '../store.ts'
import { type Context, link, type Make } from './context.ts'
import { nameOf, sometimes, streets, towns } from './words.ts'

/** The version of the activity structure that the tenant uses. */
export const structureVersion = '0f4c2a54-6f0e-4b57-9c66-5b1f0c7d2e11'
/** The levels of that version that have definitions. */
export const structureLevels: readonly number[] = [1, 2]

const entity =
  (words: readonly string[]): Make =>
  ({ random, store }) => ({
    name: nameOf(random, `${random.pick(words)} ${store.sequence() % 1000}`),
  })

const coded =
  (words: readonly string[]): Make =>
  (context) => ({
    ...entity(words)(context),
    ...sometimes(context.random, 0.8, { externalCode: codeOf(context, 'X') }),
  })

function codeOf({ random, store }: Context, letter: string): string {
  return `${letter}${store.sequence()}${random.int(10, 99)}`
}

function employer(context: Context): Fields {
  const { random } = context
  const [town, postalCode] = random.pick(towns)
  return {
    ...coded(['Bakkerij "De Korenaar"', 'Søndergård & Fils', 'Acme <Benelux>'])(context),
    ...sometimes(random, 0.85, {
      address: `${random.pick(streets)} ${random.int(1, 200)}`,
      town,
      postalCode,
      bankAccount: `BE${random.int(10, 99)} 0000 ${random.int(1000, 9999)} 0000`,
      companyRegistrationNumber: `0${random.int(400, 799)}.000.${random.int(100, 999)}`,
    }),
  }
}

function shiftDefinition(context: Context): Fields {
  const { random } = context
  return {
    ...entity(['Day', 'Early', 'Late', 'Night', 'Flex'])(context),
    code: codeOf(context, 'S'),
    friendlyName: nameOf(random, random.pick(['Day shift', 'Night shift', 'Flexible'])),
    isEnabled: random.chance(0.9),
  }
}

function absenceDefinition(context: Context): Fields {
  const { random } = context
  return {
    ...entity(['Holiday', 'Illness', 'Training', 'Working at home'])(context),
    code: codeOf(context, 'A'),
    friendlyName: nameOf(random, 'Day off'),
    friendlyCode: nameOf(random, random.pick(['HOL', 'ILL'])),
    allowedDurations: random.pick([['FullDay'], ['FullDay', 'HalfDay'], ['Interval', 'Duration']]),
    isEnabled: random.chance(0.9),
    isReasonForClocking: random.chance(0.4),
    absenceGroup: link(context, 'absence-groups'),
  }
}

function absenceGroup(context: Context): Fields {
  const type = context.random.pick(['Absence', 'WorkingElsewhere'])
  return { ...entity(['Leave', 'Elsewhere', 'Medical'])(context), type }
}

function breakDefinition(context: Context): Fields {
  const { random } = context
  return {
    ...entity(['Lunch', 'Coffee', 'Rest'])(context),
    friendlyName: nameOf(random, 'Break'),
    paidDurationInMinutes: random.pick([0, 15]),
    minimumDurationInMinutes: 15,
    maximumDurationInMinutes: random.pick([30, 60]),
    ifNotClockedDurationInMinutes: 30,
    hasToBeTakenUninterrupted: random.chance(0.5),
  }
}

function counterDefinition(context: Context): Fields {
  const { random } = context
  return {
    ...entity(['Overtime', 'Night hours', 'Meal voucher'])(context),
    code: codeOf(context, 'C'),
    friendlyName: nameOf(random, 'Counter'),
    friendlyCode: nameOf(random, 'CNT'),
    isEnabled: random.chance(0.8),
    counterGroup: link(context, 'counter-groups'),
    unit: random.pick(['Interval', 'Duration', 'Instance']),
  }
}

function activityDefinition(context: Context): Fields {
  const { random, store } = context
  const parents = store
    .records('activity-definitions')
    .filter(({ text }) => text.includes('"level":1,'))
  const level = parents.length > 1 && random.chance(0.6) ? 2 : 1
  return {
    structureVersion,
    level,
    ...entity(['Project', 'Line', 'Task'])(context),
    ...(level === 2 && { parent: { id: random.pick(parents).id } }),
    dataEntryCode: codeOf(context, 'D'),
    ...sometimes(random, 0.7, {
      shortCode: codeOf(context, 'P'),
      externalReference: codeOf(context, 'E'),
      info: 'Counts towards "billable" hours;\nsee the manual',
      activeFrom: '2020-01-01',
      canConfigureRestrictions: random.chance(0.5),
    }),
    ...sometimes(random, 0.2, { activeUntil: '2035-12-31' }),
  }
}

function workLocation(context: Context): Fields {
  const { random } = context
  const description = 'Entrance “B”, behind the gate\tsecond floor \\ left'
  return { ...entity(['Plant', 'Office'])(context), ...sometimes(random, 0.7, { description }) }
}

/** Makers of the records that others refer to, in the order in which they depend on each other. */
export const catalogues: Readonly<Record<string, Make>> = {
  departments: coded(['Production', 'Sales & Service', 'R&D', 'Logistik']),
  employers: employer,
  jobs: entity(['Welder', 'Baker', 'Clerk', 'Ingénieur']),
  'job-categories': coded(['Blue collar', 'White collar', 'Student']),
  sectors: entity(['Food', 'Metal', 'Services']),
  'work-locations': workLocation,
  terminals: (context) => ({ externalCode: codeOf(context, 'T') }),
  'shift-definitions': shiftDefinition,
  'absence-groups': absenceGroup,
  'absence-definitions': absenceDefinition,
  'break-definitions': breakDefinition,
  'counter-groups': entity(['Premiums', 'Balances']),
  'counter-definitions': counterDefinition,
  'activity-definitions': activityDefinition,
}
