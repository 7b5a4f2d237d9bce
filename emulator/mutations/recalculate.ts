import { hoursOf, presence } from '../generate/hours.ts'
import { type Fields, fieldsOf, type Store, type StoredRecord } from '../store/store.ts'
import type { Mutations } from './mutations.ts'

/**
 * Brings the totals of a person's day in line with the clockings of that day, as the service's own
 * calculations do. Returns whether there was a total to change.
 */
export function recalculate(store: Store, mutations: Mutations, clocking: Fields): boolean {
  const person = (clocking['person'] as Fields | undefined)?.['id']
  const sameDay = ({ date }: StoredRecord) => date === clocking['date']
  const totals = store.records('calculated-totals').about(person).find(sameDay)
  if (!totals) return false
  const present = presence(store.records('clockings').about(person).filter(sameDay).map(fieldsOf))
  const normal = Number(fieldsOf(totals)['normalTimeDurationInMinutes'])
  mutations.update('calculated-totals', totals.id, hoursOf(present, normal))
  return true
}
