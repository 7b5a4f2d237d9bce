import { fieldsOf, type Mutations } from './mutations.ts'
import type { Fields, Store, StoredRecord } from './store.ts'

/**
 * Brings the totals of a person's day in line with the clockings of that day, as the service's own
 * calculations do (api.md 4.4). The answer says whether there was a total to change.
 */
export function recalculate(store: Store, mutations: Mutations, clocking: Fields): boolean {
  const person = (clocking['person'] as Fields | undefined)?.['id']
  const sameDay = (record: StoredRecord) =>
    record.date === clocking['date'] && record.person === person
  const totals = store.records('calculated-totals').find(sameDay)
  if (!totals) return false
  const present = presence(store.records('clockings').filter(sameDay).map(fieldsOf))
  const normal = Number(fieldsOf(totals)['normalTimeDurationInMinutes'])
  const counted = present - (present % 5)
  mutations.update('calculated-totals', totals.id, {
    timePresentDurationInMinutes: present,
    calculatedPresenceDurationInMinutes: counted,
    weeklyHours1DurationInMinutes: counted,
    weeklyHours3DurationInMinutes: Math.max(0, counted - normal),
    payPeriodHoursDurationInMinutes: counted,
    flextimeDurationInMinutes: counted - normal,
  })
  return true
}

/**
 * The minutes between each clocking in and the next one out; a last one without its counterpart
 * does not count.
 */
export function presence(clockings: readonly Fields[]): number {
  const times = clockings
    .filter(({ status }) => status !== 'Deleted')
    .map(({ timeOfDayInMinutes }) => Number(timeOfDayInMinutes))
    .sort((a, b) => a - b)
  const paired = times.slice(0, times.length - (times.length % 2))
  return paired.reduce((sum, time, index) => sum + (index % 2 === 0 ? -time : time), 0)
}
