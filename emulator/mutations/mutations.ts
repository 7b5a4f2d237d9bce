import { addDays, type Clock, isDate } from '../clock.ts'
import { collections, relations, schemaCollections } from '../collections/collections.ts'
import { hoursOf, presence } from '../generate/dated.ts'
import { relinked } from '../generate/people.ts'
import type { Random } from '../generate/random.ts'
import { makeRecord } from '../generate/tenant.ts'
import { renamed } from '../generate/words.ts'
import type { ResolvedOptions } from '../options.ts'
import type { References } from '../references/references.ts'
import {
  exactFieldsOf,
  type Fields,
  fieldsOf,
  type Id,
  isExactNumber,
  type Store,
  type StoredRecord,
} from '../store/store.ts'

// In the order in which they are changed.
const kinds = ['number', 'boolean', 'string', 'object']

/**
 * Changes one property of a record of which only the schema is known, preferably a number. Returns the changed property,
 * or an empty object if no property can be changed.
 */
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
  if (isExactNumber(value)) return undefined
  const changed = smallChange(collection, value as Fields)
  return Object.keys(changed).length === 0 ? undefined : { ...value, ...changed }
}

function counted(text: string): string {
  const [, stem = text, number = '1'] = /^(.*) (\d+)$/s.exec(text) ?? []
  return `${stem} ${Number(number) + 1}`
}

// A user corrects the first of these properties that a record has.
const minutes = [
  'timeOfDayInMinutes',
  'flextimeBalanceInMinutes',
  'durationInMinutes',
  'clockedDurationInMinutes',
  'breakDurationInMinutes',
  'contractHoursInMinutes',
]

/** Whether a property is a name: records may have null or another value in its place. */
function isName(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'default' in value
}

/** A record, and what a correction of it is made from. */
interface Correction {
  readonly collection: string
  readonly record: Fields
  readonly random: Random
  readonly store: Store
}

/**
 * The properties that a plausible correction of the record changes; at least one differs from
 * before.
 */
function plausibleChange(correction: Correction): Fields {
  const { collection, record, random } = correction
  if (collection in schemaCollections) return smallChange(collection, record)
  const corrected = minutes.find((property) => typeof record[property] === 'number')
  if (corrected !== undefined) {
    const before = Number(record[corrected])
    const kept = collection === 'clockings' && corrected === minutes[0]
    const original = kept ? { originalTimeOfDayInMinutes: before } : {}
    // Later in the morning and earlier in the evening, so that the time stays on the same day.
    const step = random.int(1, 15) * (before > 700 ? -1 : 1)
    return { [corrected]: before + step, ...original }
  }
  const names = ['name', 'friendlyName'].filter((one) => isName(record[one]))
  if (names.length > 0) {
    const codes = ['externalCode'].filter((one) => one in record)
    const changed = random.pick([...names, ...codes])
    if (changed !== 'externalCode')
      return { [changed]: renamed(correction, record[changed] as Fields) }
  }
  if ('lastName' in record) return { mobile: `+32 471 ${random.int(100_000, 999_999)}` }
  if (collection.endsWith('-histories')) return relinked(collection, record, correction)
  return { externalCode: `Z${random.int(1000, 9999)}` }
}

/** Changes of the tenant, as its users and the service's own calculations make them. */
export interface Mutations {
  /** Invents missing properties; returns the stored record. */
  insert(collection: string, fields?: Fields): Fields
  /** Without a patch, makes a plausible change. */
  update(collection: string, id: Id, patch?: Fields): Fields
  /** Deletes a record, so that a delta reports a Delete. */
  remove(collection: string, id: Id): void
  /** Marks a record as deleted, if the collection has soft deletes. */
  softDelete(collection: string, id: Id): void
  /** Restores a record with its old id. */
  restore(collection: string, record: Fields): void
  /**
   * Gives a collection the content that it had before its latest changes, like a service that is restored from a backup:
   * no delta and no webhook tells of it, and deltas forget these changes.
   */
  revert(collection: string, changes: number): void
}

/** The data, clock and random source of changes. */
interface Parts {
  readonly store: Store
  readonly references: References
  readonly options: Pick<ResolvedOptions, 'deletedRecord'>
  readonly clock: Clock
  readonly random: Random
}

/** Creates the mutations of a tenant. */
export function createMutations({ store, references, options, clock, random }: Parts): Mutations {
  const read = (collection: string, id: Id) => {
    const record = store.find(collection, id)
    if (!record) throw new Error(`There is no record ${id} in ${collection}`)
    return exactFieldsOf(record.text)
  }
  const put = (collection: string, id: Id, fields: Fields) => {
    const stored = fieldsOf(store.put(collection, id, fields))
    if (collections[collection]?.savedTogether) saveOthers(collection, id)
    return stored
  }
  // Saving one group saves them all.
  const saveOthers = (collection: string, saved: Id) => {
    for (const record of [...store.records(collection)]) {
      if (record.id !== saved) store.put(collection, record.id, exactFieldsOf(record.text))
    }
  }
  const context = (person: unknown, day: unknown) => {
    const people = store.records('people')
    const someone = people.length === 0 ? 1 : random.pick(people).id
    const recent = addDays(clock.today(), -random.int(1, 20))
    const date = typeof day === 'string' && isDate(day) ? day : recent
    return { random, store, date, person: (person as Id | undefined) ?? someone }
  }

  return {
    insert(collection, fields = {}) {
      const owner = (fields['person'] as Fields | undefined)?.['id']
      const day = fields[collections[collection]?.dateField ?? 'from']
      const made = { ...makeRecord(collection, context(owner, day)), ...fields }
      const id = (made['id'] as Id | undefined) ?? store.newId(collection)
      if (store.find(collection, id)) throw new Error(`${collection} has a record ${id} already`)
      return put(collection, id, made)
    },
    update(collection, id, patch) {
      const fields = read(collection, id)
      const change = patch ?? plausibleChange({ collection, record: fields, random, store })
      return put(collection, id, { ...fields, ...change })
    },
    remove(collection, id) {
      store.remove(collection, id)
      if (options.deletedRecord === 'frees') references.forget(collection, id)
    },
    softDelete(collection, id) {
      if (!collections[collection]?.softDeletes) {
        throw new Error(`${collection} has no soft deletes: use remove`)
      }
      put(collection, id, { ...read(collection, id), status: 'Deleted' })
    },
    restore(collection, record) {
      if (record['id'] === undefined) throw new Error('Put back a record with its id')
      put(collection, record['id'] as Id, record)
    },
    revert(collection, changes) {
      const first = store.changes(collection).at(-changes)
      store.revert(collection, changes === 0 ? store.sequence() : (first?.sequence ?? 1) - 1)
    },
  }
}

/**
 * Recalculates the totals of a person's day from the clockings of that day, like the service. Returns whether
 * there was a total to change.
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
