import type { Fields } from '../store/store.ts'

/** The minutes of a day of full-time work. */
export const wholeDay = 456

/**
 * The minutes between each clocking in and the next one out; a last one without its counterpart
 * does not count, nor do clockings of other kinds.
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
