import type { Fields } from '../store/store.ts'
import type { Context } from './context.ts'
import { clockingAt, dated, otherKind, totalsOf } from './dated.ts'
import { dueOn, minutesBetween, wholeDay } from './hours.ts'

/** Adds a record to the tenant. */
export type Add = (collection: string, fields: Fields) => void

/**
 * One person's day: clockings in and out, and totals, paid presences and breaks that match
 * them. Returns the flextime balance after the day.
 */
export function workday(context: Context, add: Add, balance: number): number {
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
  // Some nights begin on the day before the one that they count for, most end on the day after it.
  const evening = random.chance(0.1) ? -random.int(5, 60) : random.int(1290, 1350)
  const start = night ? evening : random.int(420, 560)
  const end = start + random.int(430, 540)
  const lunch = start + random.int(200, 280)
  const times =
    night || random.chance(0.4) ? [start, end] : [start, lunch, lunch + random.int(20, 60), end]
  // Now and then somebody forgets one.
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
