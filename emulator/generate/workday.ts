import type { Fields } from '../store.ts'
import type { Context } from './context.ts'
import { dated, totalsOf } from './dated.ts'

/** How a record gets into the tenant. */
export type Add = (collection: string, fields: Fields) => void

const normal = 456

/**
 * One person's day: clockings in and out, and totals, paid presences and breaks that add up with
 * them. The answer is the flextime balance after the day.
 */
export function workday(context: Context, add: Add, balance: number): number {
  const { random, date } = context
  const weekday = new Date(date).getUTCDay()
  const free = weekday === 0 || (weekday === 6 && random.chance(0.93))
  const make = (collection: string, fields: Fields = {}) =>
    add(collection, { ...dated[collection]?.(context), ...fields })

  if (free) return finish(context, add, 0, 0, balance)
  if (random.chance(0.07)) {
    make('absences')
    return finish(context, add, 0, normal, balance + normal)
  }
  const times = clockingTimes(context)
  for (const time of times) {
    make('clockings', { timeOfDayInMinutes: time, calculatedTimeOfDayInMinutes: time - (time % 5) })
  }
  if (times.length === 4) make('breaks', breakBetween(times))
  if (random.chance(0.5)) make('access-clockings')
  if (random.chance(0.35)) make('counters')
  if (random.chance(0.45)) make('activity-durations')
  if (random.chance(0.05)) make('work-interruptions')
  if (random.chance(0.06)) make('assignments')
  return finish(context, add, presentBetween(times), normal, balance)
}

function clockingTimes({ random }: Context): number[] {
  const night = random.chance(0.03)
  const start = night ? random.int(1290, 1350) : random.int(420, 560)
  const end = start + random.int(430, 540)
  if (night || random.chance(0.4))
    return random.chance(0.01) ? [-random.int(5, 60), end] : [start, end]
  const lunch = start + random.int(200, 280)
  return [start, lunch, lunch + random.int(20, 60), end]
}

function presentBetween(times: readonly number[]): number {
  return times.reduce((sum, time, index) => sum + (index % 2 === 0 ? -time : time), 0)
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
    const presence = dated['paid-presences']?.(context) ?? {}
    add('paid-presences', { ...presence, durationInMinutes: part })
  }
  return Number(totals['flextimeBalanceInMinutes'])
}
