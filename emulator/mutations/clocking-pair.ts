import { isInOut, timeOf } from '../generate/hours.ts'
import { fieldsOf, type Store, type StoredRecord } from '../store/store.ts'

/** The clockings of a person's day, of all kinds. */
export function clockingsOfDay(
  { person, date }: Pick<StoredRecord, 'person' | 'date'>,
  store: Store,
): StoredRecord[] {
  return store
    .records('clockings')
    .about(person)
    .filter((record) => record.date === date)
}

/**
 * A clocking in with its clocking out, or the other way round. A clocking of another kind is alone, as
 * is any on a day with a forgotten clocking.
 */
export function clockingPair(clocking: StoredRecord, store: Store): readonly StoredRecord[] {
  const pairs = clockingsOfDay(clocking, store)
    .filter((record) => isInOut(fieldsOf(record)))
    .sort((a, b) => timeOf(fieldsOf(a)) - timeOf(fieldsOf(b)))
  const at = pairs.findIndex(({ id }) => id === clocking.id)
  const other = pairs.length % 2 === 0 ? pairs[at ^ 1] : undefined
  return at === -1 || other === undefined ? [clocking] : [clocking, other]
}
