import { collections } from '../collections/collections.ts'
import type { ResolvedOptions } from '../options.ts'

/** An internal id: an integer, or the GUID text of an activity definition. */
export type Id = number | string

/** The properties of a record as plain JSON values. */
export type Fields = Record<string, unknown>

/** One version of a record. It is immutable: a change of the record replaces it. */
export interface StoredRecord {
  readonly id: Id
  readonly version: string
  /** The date that filters test (`from` on assignments). */
  readonly date: string | undefined
  /** The person that filters test. */
  readonly person: number | undefined
  /** The record as JSON, made once and served as it is. */
  readonly text: string
}

/** One step in the history of a collection; no `before` is an insert, no `after` a delete. */
export interface Change {
  readonly sequence: number
  readonly id: Id
  readonly version: string
  readonly before: StoredRecord | undefined
  readonly after: StoredRecord | undefined
}

/** Is told of a change of a collection. */
export type ChangeListener = (collection: string, change: Change) => void

/**
 * All records of the tenant by collection, ascending by id, and what happened to them since the
 * start.
 */
export interface Store {
  records(collection: string): readonly StoredRecord[]
  changes(collection: string): readonly Change[]
  find(collection: string, id: Id): StoredRecord | undefined
  /** The number of the latest change in any collection. */
  sequence(): number
  /** An id greater than all given so far. */
  newId(collection: string): number
  /**
   * Adds a record that is not in the changes: part of the tenant as it was before the start.
   */
  load(collection: string, fields: Fields): StoredRecord
  /** Inserts or replaces the record with this id, under a new version. */
  put(collection: string, id: Id, fields: Fields): StoredRecord
  /** Deletes a record; throws when there is none. */
  remove(collection: string, id: Id): void
  /** Calls the listener after each change. */
  onChange(listener: ChangeListener): void
}

interface Table {
  readonly records: StoredRecord[]
  readonly changes: Change[]
  lastId: number
}

/**
 * Makes an empty store. Where translations are keyed by language (`nl`) alone, those by culture
 * (`nl-BE`) are left out.
 */
export function createStore(
  options: Pick<ResolvedOptions, 'translationKeys'> = { translationKeys: 'cultures' },
): Store {
  const keep = () => (options.translationKeys === 'languages' ? withoutCultures : undefined)
  const tables = new Map<string, Table>(
    [...Object.keys(collections), 'terminals'].map((name) => [
      name,
      { records: [], changes: [], lastId: 0 },
    ]),
  )
  let sequence = 0
  const next = () => versionOf(++sequence)
  const listeners: ChangeListener[] = []

  const table = (collection: string): Table => {
    const found = tables.get(collection)
    if (!found) throw new Error(`The emulator has no collection "${collection}"`)
    return found
  }
  const log = (collection: string, change: Change) => {
    table(collection).changes.push(change)
    for (const listener of listeners) listener(collection, change)
  }
  const find = (collection: string, id: Id) => {
    const { records } = table(collection)
    const record = records[position(records, id)]
    return record?.id === id ? record : undefined
  }

  return {
    records: (collection) => table(collection).records,
    changes: (collection) => table(collection).changes,
    find,
    sequence: () => sequence,
    newId: (collection) => ++table(collection).lastId,
    load(collection, fields) {
      const target = table(collection)
      const given = fields['id'] as Id | undefined
      const id = given ?? ++target.lastId
      const record = freeze(collection, id, next(), fields, keep())
      place(target, record)
      return record
    },
    put(collection, id, fields) {
      const target = table(collection)
      const before = find(collection, id)
      const after = freeze(collection, id, next(), fields, keep())
      place(target, after)
      log(collection, { sequence, id, version: after.version, before, after })
      return after
    },
    remove(collection, id) {
      const target = table(collection)
      const before = find(collection, id)
      if (!before) throw new Error(`There is no record ${id} in ${collection}`)
      target.records.splice(position(target.records, id), 1)
      log(collection, { sequence: sequence + 1, id, version: next(), before, after: undefined })
    },
    onChange: (listener) => void listeners.push(listener),
  }
}

/** The place of the first record whose id is not less than `id`. */
export function position(records: readonly StoredRecord[], id: Id): number {
  let low = 0
  let high = records.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((records[middle] as StoredRecord).id < id) low = middle + 1
    else high = middle
  }
  return low
}

function place(target: Table, record: StoredRecord): void {
  const last = target.records.at(-1)
  const at =
    last && last.id >= record.id ? position(target.records, record.id) : target.records.length
  const taken = target.records[at]?.id === record.id
  if (at === target.records.length) target.records.push(record)
  else target.records.splice(at, taken ? 1 : 0, record)
  if (typeof record.id === 'number') target.lastId = Math.max(target.lastId, record.id)
}

// 20 upper-case hexadecimal characters that rise with every change of any collection.
function versionOf(sequence: number): string {
  return `00000A1000${sequence.toString(16).toUpperCase().padStart(10, '0')}`
}

type Replacer = (name: string, value: unknown) => unknown

function withoutCultures(name: string, value: unknown): unknown {
  return /^[a-z]{2}-[A-Z]{2}$/.test(name) ? undefined : value
}

function freeze(
  collection: string,
  id: Id,
  version: string,
  fields: Fields,
  keep: Replacer | undefined,
): StoredRecord {
  const facts = collections[collection]
  const date = facts?.dateField ? fields[facts.dateField] : undefined
  const person = collection === 'people' ? id : (fields['person'] as Fields | undefined)?.['id']
  const rest = JSON.stringify(
    'id' in fields || 'changeVersion' in fields ? without(fields) : fields,
    keep,
  )
  // Joined as text because copying the properties costs more than all the rest of a large tenant.
  const head = `{"id":${JSON.stringify(id)},"changeVersion":"${version}"`
  return {
    id,
    version,
    date: date as string | undefined,
    person: person as number | undefined,
    text: withDigits(rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`),
  }
}

function without({ id: _id, changeVersion: _version, ...rest }: Fields): Fields {
  return rest
}

/**
 * Gives the positions in a record more digits than a double holds, as a service with decimal columns
 * prints them. A text that was parsed in between gets its digits back.
 */
export function withDigits(text: string): string {
  if (!text.includes('"geolocation"')) return text
  return text.replace(/("(?:longitude|latitude)":-?\d+\.)(\d+)/g, (_, head: string, tail: string) =>
    head.concat(tail.padEnd(15, '0'), '123456'),
  )
}

/** The properties of a stored record. */
export function fieldsOf({ text }: StoredRecord): Fields {
  return JSON.parse(text)
}
