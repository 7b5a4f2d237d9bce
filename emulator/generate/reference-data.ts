import type { Fields } from '../store/store.ts'
import { type Context, link, type Make } from './random.ts'
import { newName, sometimes, streets, towns } from './words.ts'

/** The version of the activity structure that the tenant uses. */
export const structureVersion = '0f4c2a54-6f0e-4b57-9c66-5b1f0c7d2e11'
/** The levels of that version that have definitions. */
export const structureLevels: readonly number[] = [1, 2]

const entity =
  (collection: string): Make =>
  ({ random, store }) => ({ name: newName({ collection, random, store }) })

const coded =
  (collection: string): Make =>
  (context) => ({
    ...entity(collection)(context),
    ...sometimes(context.random, 0.8, { externalCode: codeOf(context, 'X') }),
  })

// Entries that employees see also have a friendly name, which is the same here.
function seen(collection: string, context: Context): { name: Fields; friendlyName: Fields } {
  const name = newName({ collection, ...context })
  return { name, friendlyName: name }
}

function initialsOf({ default: text }: Fields): Fields {
  const short = String(text)
    .replaceAll(/[^\p{L}]/gu, '')
    .slice(0, 3)
    .toUpperCase()
  return { default: short, translations: { nl: short } }
}

function codeOf({ random, store }: Context, letter: string): string {
  return `${letter}${store.sequence()}${random.int(10, 99)}`
}

function employer(context: Context): Fields {
  const { random } = context
  const [town, postalCode] = random.pick(towns)
  return {
    ...coded('employers')(context),
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
    ...seen('shift-definitions', context),
    code: codeOf(context, 'S'),
    isEnabled: random.chance(0.9),
  }
}

function absenceDefinition(context: Context): Fields {
  const { random } = context
  const names = seen('absence-definitions', context)
  return {
    ...names,
    code: codeOf(context, 'A'),
    friendlyCode: initialsOf(names.name),
    allowedDurations: random.pick([['FullDay'], ['FullDay', 'HalfDay'], ['Interval', 'Duration']]),
    isEnabled: random.chance(0.9),
    isReasonForClocking: random.chance(0.4),
    absenceGroup: groupOf(names.name, context),
  }
}

// The groups of absences by how their names begin; all others are in the group Leave.
const absenceGroups: Readonly<Record<string, string>> = {
  Illness: 'Medical',
  Training: 'Working elsewhere',
  'Working at home': 'Working elsewhere',
  'Parental leave': 'Social leave',
  'Time credit': 'Social leave',
}

function groupOf({ default: name }: Fields, context: Context): Fields {
  const absence = Object.keys(absenceGroups).find((start) => String(name).startsWith(start)) ?? ''
  const group = absenceGroups[absence] ?? 'Leave'
  const records = context.store.records('absence-groups')
  const found = records.find(({ text }) => text.includes(`"default":"${group}`))
  return found ? { id: found.id } : link(context, 'absence-groups')
}

function absenceGroup(context: Context): Fields {
  const { name } = seen('absence-groups', context)
  const elsewhere = String(name['default']).startsWith('Working elsewhere')
  return { name, type: elsewhere ? 'WorkingElsewhere' : 'Absence' }
}

function breakDefinition(context: Context): Fields {
  const { random } = context
  return {
    ...seen('break-definitions', context),
    paidDurationInMinutes: random.pick([0, 15]),
    minimumDurationInMinutes: 15,
    maximumDurationInMinutes: random.pick([30, 60]),
    ifNotClockedDurationInMinutes: 30,
    hasToBeTakenUninterrupted: random.chance(0.5),
  }
}

function counterDefinition(context: Context): Fields {
  const { random } = context
  const names = seen('counter-definitions', context)
  return {
    ...names,
    code: codeOf(context, 'C'),
    friendlyCode: initialsOf(names.name),
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
    ...entity('activity-definitions')(context),
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
  return { ...entity('work-locations')(context), ...sometimes(random, 0.7, { description }) }
}

/** Makers of the records that others refer to, in the order in which they depend on each other. */
export const referenceData: Readonly<Record<string, Make>> = {
  departments: coded('departments'),
  employers: employer,
  jobs: entity('jobs'),
  'job-categories': coded('job-categories'),
  sectors: entity('sectors'),
  'work-locations': workLocation,
  terminals: (context) => ({ externalCode: codeOf(context, 'T') }),
  'shift-definitions': shiftDefinition,
  'absence-groups': absenceGroup,
  'absence-definitions': absenceDefinition,
  'break-definitions': breakDefinition,
  'counter-groups': entity('counter-groups'),
  'counter-definitions': counterDefinition,
  'activity-definitions': activityDefinition,
}
