import { addDays } from '../clock.ts'
import type { Fields } from '../store/store.ts'
import { activityLevels, type Context, link, type Make, person } from './random.ts'
import { sometimes } from './words.ts'

/** The minutes of a day of full-time work. */
export const wholeDay = 456

/**
 * The minutes between each clocking in and the next clocking out. A last one without its counterpart and clockings of
 * other kinds do not count.
 */
export function presence(clockings: readonly Fields[]): number {
  return minutesBetween(timesInAndOut(clockings))
}

/** The minutes present of somebody who goes in, out, in, ... at these times. */
export function minutesBetween(times: readonly number[]): number {
  const paired = times.slice(0, times.length - (times.length % 2))
  return paired.reduce((sum, time, index) => sum + (index % 2 === 0 ? -time : time), 0)
}

/** When somebody went in, out, in, ... on the day of these clockings. */
export function timesInAndOut(clockings: readonly Fields[]): number[] {
  return clockings
    .filter(isInOut)
    .map(timeOf)
    .sort((a, b) => a - b)
}

/** Whether a clocking counts as going in or out. */
export function isInOut({ status, kind }: Fields): boolean {
  return status !== 'Deleted' && kind === 'InOut'
}

/** The minute of the day of a clocking. */
export function timeOf({ timeOfDayInMinutes }: Fields): number {
  return Number(timeOfDayInMinutes)
}

/** The properties of a day's totals that follow from the minutes present and the minutes due. */
export function hoursOf(present: number, normal: number): Fields {
  const counted = present - (present % 5)
  return {
    normalTimeDurationInMinutes: normal,
    timePresentDurationInMinutes: present,
    calculatedPresenceDurationInMinutes: counted,
    weeklyHours1DurationInMinutes: counted,
    weeklyHours2DurationInMinutes: 0,
    weeklyHours3DurationInMinutes: Math.max(0, counted - normal),
    payPeriodHoursDurationInMinutes: counted,
    flextimeDurationInMinutes: counted - normal,
  }
}

/** The minutes that are due on a date: none at the weekend. */
export function dueOn(date: string): number {
  return new Date(date).getUTCDay() % 6 === 0 ? 0 : wholeDay
}

function request({ random, person: id }: Context): Fields {
  return { id: `demo-${id}-${random.int(1, 99_999)}` }
}

/** An absence that somebody has asked for: nobody plans to be ill. */
export function plannedAbsence(context: Context): Fields {
  const definitions = context.store
    .records('absence-definitions')
    .filter(({ text }) => !text.includes('"default":"Illness'))
  return absenceOf(context, { id: context.random.pick(definitions).id })
}

function absenceOf(context: Context, definition: Fields): Fields {
  const { random, date } = context
  const minutes = random.pick([wholeDay, wholeDay / 2, 60])
  return {
    person: person(context),
    resultingAbsenceDefinition: definition,
    ...sometimes(random, 0.7, {
      requestedAbsenceDefinition: definition,
      request: request(context),
      shiftDefinition: link(context, 'shift-definitions'),
    }),
    date,
    startTimeInMinutes: random.int(360, 720),
    durationInMinutes: minutes,
    calculatedDurationInMinutes: minutes,
    dayPart: minutes === wholeDay ? 'Unknown' : random.pick(['First', 'Second']),
    status: random.pick(['Manual', 'Auto', 'BeginOpen', 'Open', 'Terminal', 'Calendar']),
    approvalLevel: random.pick(['AwaitingApproval', 'Approved', 'Approved', 'NotApproved']),
    isLocked: random.chance(0.2),
    periodType: 'Day',
  }
}

function accessClocking(context: Context): Fields {
  const { random, date } = context
  const unknown = random.chance(0.02)
  const refusals = ['AccessRefused', 'WrongPinCode', 'AlarmCode', 'AntiPassbackError', 'OutZone']
  const known = random.chance(0.93) ? 'AccessOk' : random.pick(refusals)
  return {
    ...(!unknown && { person: person(context) }),
    date,
    timeOfDayInMinutes: random.int(0, 1439),
    terminal: link(context, 'terminals'),
    status: unknown ? 'UnknownBadgeNumber' : known,
  }
}

function activityDuration(context: Context): Fields {
  const { random, date } = context
  return {
    person: person(context),
    date,
    durationInMinutes: random.int(15, 480),
    activityLevels: activityLevels(context),
    status: random.pick(['Auto', 'Manual', 'Unknown']),
    isAuthorized: random.chance(0.8),
    ...sometimes(random, 0.1, {
      absenceDefinition: link(context, 'absence-definitions'),
      request: request(context),
      counterDefinitions: [link(context, 'counter-definitions')],
      shiftDefinition: link(context, 'shift-definitions'),
      timeOfDayInMinutes: random.int(0, 1439),
      calculatedTimeOfDayInMinutes: random.int(0, 1439),
      isGenerated: random.chance(0.5),
      kind: 'Activity',
    }),
  }
}

function assignment(context: Context): Fields {
  const { random, date } = context
  const start = random.int(300, 840)
  return {
    person: person(context),
    from: date,
    until: addDays(date, random.int(0, 4)),
    startTimeInMinutes: start,
    endTimeInMinutes: start + random.int(240, 600),
    breakDurationInMinutes: random.pick([0, 30]),
    ...sometimes(random, 0.4, { comments: 'Bring "safety" shoes — façade, line 1\nline 2' }),
    activityLevels: activityLevels(context),
    isRejected: random.chance(0.05),
  }
}

/** A clocking at a time of the context's day. */
export function clockingAt(context: Context, time: number, kind: Fields): Fields {
  const { random, date } = context
  const edited = random.chance(0.05)
  return {
    person: person(context),
    date,
    timeOfDayInMinutes: time,
    ...(edited && { originalTimeOfDayInMinutes: time - random.int(1, 30) }),
    calculatedTimeOfDayInMinutes: time - (time % 5),
    isGenerated: random.chance(0.03),
    ...(random.chance(0.9) ? { terminal: link(context, 'terminals') } : geolocation(context)),
    ...kind,
    status: 'Active',
  }
}

function clocking(context: Context): Fields {
  return clockingAt(context, context.random.int(360, 1140), { kind: 'InOut' })
}

function geolocation({ random }: Context): Fields {
  const decimals = () => random.int(100_000_000, 999_999_999) / 1e9
  return { geolocation: { longitude: 4 + decimals(), latitude: 50 + decimals() } }
}

/** A kind of clocking other than in and out, with its properties. */
export function otherKind(context: Context): Fields {
  const { random } = context
  const draw = random.int(1, 8)
  if (draw > 5) return { kind: 'Activity', activityLevels: activityLevels(context) }
  if (draw > 3) return { kind: 'ActivityEnd' }
  const reason = link(context, 'absence-definitions')
  return { kind: 'Reason', reason, isOpen: random.chance(0.3) }
}

function counter(context: Context): Fields {
  const { random, date } = context
  const start = random.int(360, 900)
  const minutes = random.int(10, 240)
  return {
    ...sometimes(random, 0.3, {
      shiftDefinition: link(context, 'shift-definitions'),
      request: request(context),
    }),
    numberOfInstances: random.int(1, 3),
    status: random.pick(['Auto', 'Manual', 'Calendar']),
    isAuthorized: random.chance(0.8),
    person: person(context),
    periodType: random.pick(['Day', 'Week', 'PayPeriod']),
    counterDefinition: link(context, 'counter-definitions'),
    date,
    startTimeInMinutes: start,
    endTimeInMinutes: start + minutes,
    durationInMinutes: minutes,
  }
}

function breakTaken(context: Context): Fields {
  const minutes = context.random.int(15, 60)
  return {
    person: person(context),
    breakDefinition: link(context, 'break-definitions'),
    date: context.date,
    calculatedDurationInMinutes: Math.max(30, minutes),
    clockedDurationInMinutes: minutes,
    startTimeInMinutes: 690,
    endTimeInMinutes: 810,
    isBreakTaken: minutes > 0,
  }
}

/** The totals of a day from the minutes present and the balance after the day before. */
export function totalsOf(
  context: Context,
  present: number,
  normal: number,
  balance: number,
): Fields {
  const hours = hoursOf(present, normal)
  return {
    person: person(context),
    date: context.date,
    ...hours,
    flextimeBalanceInMinutes: balance + Number(hours['flextimeDurationInMinutes']),
    shiftDefinition: link(context, 'shift-definitions'),
  }
}

// The totals of the day's clockings in the store, added to the person's latest balance.
function totalsOfClockings(context: Context): Fields {
  const { store, date, person: id } = context
  const clockings = store
    .records('clockings')
    .about(id)
    .filter((record) => record.date === date)
  const latest = store.records('calculated-totals').about(id).at(-1)
  const balance = latest ? Number(JSON.parse(latest.text).flextimeBalanceInMinutes) : 0
  const present = presence(clockings.map(({ text }) => JSON.parse(text)))
  return totalsOf(context, present, dueOn(date), balance)
}

function paidPresence(context: Context): Fields {
  const { random, date } = context
  return {
    person: person(context),
    date,
    durationInMinutes: random.int(60, 480),
    ...sometimes(random, 0.8, { shiftDefinition: link(context, 'shift-definitions') }),
  }
}

function workInterruption(context: Context): Fields {
  const start = context.random.int(540, 960)
  const minutes = context.random.int(5, 25)
  return {
    person: person(context),
    date: context.date,
    durationInMinutes: minutes,
    startTimeInMinutes: start,
    endTimeInMinutes: start + minutes,
  }
}

/** Makers of the records of one person on one day. */
export const dated: Readonly<Record<string, Make>> = {
  absences: (context) => absenceOf(context, link(context, 'absence-definitions')),
  'access-clockings': accessClocking,
  'activity-durations': activityDuration,
  assignments: assignment,
  breaks: breakTaken,
  'calculated-totals': totalsOfClockings,
  clockings: clocking,
  counters: counter,
  'paid-presences': paidPresence,
  'work-interruptions': workInterruption,
}
