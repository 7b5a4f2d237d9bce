import { addDays, isDate } from '../clock.ts'
import { collections, relations, schemaCollections } from '../collections/collections.ts'
import { relinked } from '../generate/histories.ts'
import type { Random } from '../generate/random.ts'
import { renamed } from '../generate/unique-name.ts'
import type { Fields, Store } from '../store/store.ts'

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
    const kept = 'kind' in record && corrected === minutes[0]
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

const kinds = ['number', 'boolean', 'string', 'object']

/** Another value for one property, a number if there is one; nothing where no property has another. */
function smallChange(collection: string, record: Fields): Fields {
  const date = collections[collection]?.dateField ?? 'date'
  const kept = ['id', 'changeVersion', 'externalReferences', 'status', date]
  const changes = Object.entries(record)
    .filter(([name]) => !kept.includes(name) && !(name in relations))
    .sort(([, one], [, other]) => kinds.indexOf(typeof one) - kinds.indexOf(typeof other))
    .map(([name, value]): [string, unknown] => [name, otherValue(collection, value)])
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined).slice(0, 1))
}

function otherValue(collection: string, value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value === 'string') return isDate(value) ? addDays(value, 1) : counted(value)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const changed = smallChange(collection, value as Fields)
  return Object.keys(changed).length === 0 ? undefined : { ...value, ...changed }
}

function counted(text: string): string {
  const [, stem = text, number = '1'] = /^(.*) (\d+)$/s.exec(text) ?? []
  return `${stem} ${Number(number) + 1}`
}
