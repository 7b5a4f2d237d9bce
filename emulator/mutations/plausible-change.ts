import { schemaCollections } from '../collections/collections.ts'
import { relinked } from '../generate/histories.ts'
import type { Random } from '../generate/random.ts'
import { renamed } from '../generate/unique-name.ts'
import type { Fields, Store } from '../store/store.ts'
import { smallChange } from './small-change.ts'

// The first of these that a record has is what a user would correct.
const minutes = [
  'timeOfDayInMinutes',
  'flextimeBalanceInMinutes',
  'durationInMinutes',
  'clockedDurationInMinutes',
  'breakDurationInMinutes',
  'contractHoursInMinutes',
]

/** A record, and what a correction of it is made from. */
export interface Correction {
  readonly collection: string
  readonly record: Fields
  readonly random: Random
  readonly store: Store
}

/**
 * The properties that a plausible correction of the record changes; at least one differs from
 * before.
 */
export function plausibleChange(correction: Correction): Fields {
  const { collection, record, random } = correction
  if (collection in schemaCollections) return smallChange(collection, record)
  const corrected = minutes.find((property) => typeof record[property] === 'number')
  if (corrected !== undefined) {
    const before = Number(record[corrected])
    const kept = collection === 'clockings' && corrected === minutes[0]
    const original = kept ? { originalTimeOfDayInMinutes: before } : {}
    // Upwards in the morning, downwards in the evening: the time stays on its day.
    const step = random.int(1, 15) * (before > 700 ? -1 : 1)
    return { [corrected]: before + step, ...original }
  }
  if ('name' in record) {
    const changed = random.pick(
      ['name', 'friendlyName', 'externalCode'].filter((one) => one in record),
    )
    if (changed !== 'externalCode')
      return { [changed]: renamed(correction, record[changed] as Fields) }
  }
  if ('lastName' in record) return { mobile: `+32 471 ${random.int(100_000, 999_999)}` }
  if (collection.endsWith('-histories')) return relinked(collection, record, correction)
  return { externalCode: `Z${random.int(1000, 9999)}` }
}
