import { addDays, isDate } from '../clock.ts'
import { collections, relations } from '../collections/collections.ts'
import type { Fields } from '../store/store.ts'

// In the order in which they are changed.
const kinds = ['number', 'boolean', 'string', 'object']

/**
 * Another value for one property of a record of which only the schema is known: for a number if it
 * has one. Empty when it has no property that can change.
 */
export function smallChange(collection: string, record: Fields): Fields {
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
