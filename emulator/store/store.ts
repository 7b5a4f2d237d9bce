import { collections } from '../collections/collections.ts'
import type { ResolvedOptions } from '../options.ts'
import {
  Blocks,
  type Fields,
  firstWith,
  type Id,
  type NewVersion,
  Numbers,
  type StoredRecord,
  Versions,
  versionOf,
} from './versions.ts'

/**
 * The present records of a collection, ascending by id. Each read creates a new object, so two reads of the same version
 * are not identical.
 */
export class Records implements Iterable<StoredRecord> {
  readonly #versions: Versions
  /** The indexes of the present versions. */
  readonly #present: Numbers

  constructor(versions: Versions, present = new Numbers(Uint32Array)) {
    this.#versions = versions
    this.#present = present
  }

  /** The records before these changes, which are the latest of all. */
  before(changes: readonly Change[]): Records {
    const earlier = new Records(this.#versions, this.#present.copy())
    for (const { id, before } of changes.toReversed()) earlier.revert(id, before)
    return earlier
  }

  get length(): number {
    return this.#present.length
  }

  at(position: number): StoredRecord | undefined {
    return position < this.length ? this.#versions.at(this.#present.at(position)) : undefined
  }

  *[Symbol.iterator](): Generator<StoredRecord> {
    for (let position = 0; position < this.length; position += 1) {
      yield this.#versions.at(this.#present.at(position))
    }
  }

  withId(id: Id): StoredRecord | undefined {
    const position = this.#position(id)
    return this.#has(position, id) ? this.at(position) : undefined
  }

  /** The position of the first record with an id after this one. */
  after(id: Id): number {
    const position = this.#position(id)
    return this.#has(position, id) ? position + 1 : position
  }

  /** The records about one person. */
  about(person: unknown): StoredRecord[] {
    const isWanted = this.#versions.isAbout(person)
    const found: StoredRecord[] = []
    for (let position = 0; position < this.length; position += 1) {
      const index = this.#present.at(position)
      if (isWanted(index)) found.push(this.#versions.at(index))
    }
    return found
  }

  /** The bytes of the texts of the records at these positions, with commas between. */
  parts(positions: readonly number[]): Buffer[] {
    return this.#versions.parts(positions.map((position) => this.#present.at(position)))
  }

  find(matches: (record: StoredRecord) => boolean): StoredRecord | undefined {
    for (const record of this) if (matches(record)) return record
    return undefined
  }

  filter(matches: (record: StoredRecord) => boolean): StoredRecord[] {
    const found: StoredRecord[] = []
    for (const record of this) if (matches(record)) found.push(record)
    return found
  }

  map<T>(to: (record: StoredRecord, position: number) => T): T[] {
    return Array.from(this, to)
  }

  /** Adds a record, or replaces the one with its id. */
  put(version: NewVersion): StoredRecord {
    const index = this.#versions.add(version)
    this.#place(version.id, index)
    return this.#versions.at(index)
  }

  remove(id: Id): void {
    this.#present.remove(this.#position(id))
  }

  /** Gives a record an earlier version back, or removes it if it had none. */
  revert(id: Id, version: StoredRecord | undefined): void {
    if (version) this.#place(id, this.#versions.indexOf(version))
    else this.remove(id)
  }

  #place(id: Id, index: number): void {
    const position = this.#position(id)
    if (this.#has(position, id)) this.#present.set(position, index)
    else this.#present.insert(index, position)
  }

  /** The position of the first record with this or a greater id. */
  #position(id: Id): number {
    const { length } = this
    // Most new records have the greatest id.
    if (length > 0 && this.#id(length - 1) < id) return length
    return firstWith(length, (position) => this.#id(position) >= id)
  }

  #has(position: number, id: Id): boolean {
    return position < this.length && this.#id(position) === id
  }

  #id(position: number): Id {
    return this.#versions.id(this.#present.at(position))
  }
}

export type { Fields, Id, StoredRecord } from './versions.ts'

/** A change of one record. Without `before` it is an insert, without `after` a delete. */
export interface Change {
  /** Set if no delta tells of it: the collection has an earlier content again. */
  readonly isSilent?: true
  readonly sequence: number
  readonly id: Id
  readonly version: string
  readonly before: StoredRecord | undefined
  readonly after: StoredRecord | undefined
}

/** Called for a change of a collection. */
type ChangeListener = (collection: string, change: Change) => void

/**
 * All records of the tenant by collection, ascending by id, and their changes since the start.
 */
export interface Store {
  records(collection: string): Records
  /** The records as they were after the change with this number in any collection. */
  recordsAt(collection: string, sequence: number): Records
  /** The changes of a collection after the one with this number, by default since the start. */
  changes(collection: string, after?: number): readonly Change[]
  find(collection: string, id: Id): StoredRecord | undefined
  /** The number of the latest change in any collection. */
  sequence(): number
  /** An id greater than all issued so far. */
  newId(collection: string): number
  /** Adds a record without a change, for the tenant as it is at the start. */
  load(collection: string, fields: Fields): StoredRecord
  /** Inserts or replaces the record with this id, under a new version. */
  put(collection: string, id: Id, fields: Fields): StoredRecord
  /** Deletes a record; throws when there is none. */
  remove(collection: string, id: Id): void
  /**
   * Gives a collection the content back that it had after the change with this number, under the versions of then. What
   * has changed since did not happen: no delta tells of it, nor of this.
   */
  revert(collection: string, sequence: number): void
  /** Calls the listener after each change. */
  onChange(listener: ChangeListener): void
}

interface Table {
  readonly records: Records
  readonly changes: Change[]
  lastId: number
}

/**
 * Makes an empty store. In the specification translations are keyed by language (`nl`) alone: those by
 * culture (`nl-BE`) are left out.
 */
export function createStore(
  options: Pick<ResolvedOptions, 'dialect'> = { dialect: 'documentation' },
): Store {
  const keep = () => (options.dialect === 'specification' ? withoutCultures : undefined)
  const blocks = new Blocks()
  const tables = new Map<string, Table>(
    [...Object.keys(collections), 'terminals'].map((name) => [
      name,
      { records: new Records(new Versions(blocks)), changes: [], lastId: 0 },
    ]),
  )
  let sequence = 0
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
  const find = (collection: string, id: Id) => table(collection).records.withId(id)
  const place = (collection: string, id: Id, fields: Fields) => {
    const target = table(collection)
    sequence += 1
    if (typeof id === 'number') target.lastId = Math.max(target.lastId, id)
    return target.records.put(versionFrom(collection, id, sequence, fields, keep()))
  }

  return {
    records: (collection) => table(collection).records,
    recordsAt: (collection, sequence) =>
      table(collection).records.before(changesAfter(table(collection).changes, sequence)),
    changes: (collection, after = 0) => changesAfter(table(collection).changes, after),
    find,
    sequence: () => sequence,
    newId: (collection) => ++table(collection).lastId,
    load(collection, fields) {
      const given = fields['id'] as Id | undefined
      return place(collection, given ?? table(collection).lastId + 1, fields)
    },
    put(collection, id, fields) {
      const before = find(collection, id)
      const after = place(collection, id, fields)
      log(collection, { sequence, id, version: after.version, before, after })
      return after
    },
    remove(collection, id) {
      const before = find(collection, id)
      if (!before) throw new Error(`There is no record ${id} in ${collection}`)
      table(collection).records.remove(id)
      sequence += 1
      log(collection, { sequence, id, version: versionOf(sequence), before, after: undefined })
    },
    revert(collection, then) {
      const { records, changes } = table(collection)
      const undone = changesAfter(changes, then)
      const earlier = records.before(undone)
      for (const [i, change] of changes.entries())
        if (change.sequence > then) changes[i] = { ...change, isSilent: true }
      for (const id of new Set(undone.map((change) => change.id))) {
        const [before, after] = [records.withId(id), earlier.withId(id)]
        if (before?.version === after?.version) continue
        records.revert(id, after)
        sequence += 1
        const version = after?.version ?? versionOf(sequence)
        changes.push({ sequence, id, version, before, after, isSilent: true })
      }
    },
    onChange: (listener) => void listeners.push(listener),
  }
}

function changesAfter(changes: readonly Change[], sequence: number): readonly Change[] {
  return changes.slice(firstWith(changes.length, (i) => (changes[i] as Change).sequence > sequence))
}

function withoutCultures(name: string, value: unknown): unknown {
  return /^[a-z]{2}-[A-Z]{2}$/.test(name) ? undefined : value
}

function versionFrom(
  collection: string,
  id: Id,
  sequence: number,
  fields: Fields,
  keep: ((name: string, value: unknown) => unknown) | undefined,
): NewVersion {
  const facts = collections[collection]
  const date = facts?.dateField ? fields[facts.dateField] : undefined
  const person = collection === 'people' ? id : (fields['person'] as Fields | undefined)?.['id']
  const given = 'id' in fields || 'changeVersion' in fields ? without(fields) : fields
  const rest = withDecimals(textOf(given, keep))
  // Joined as text, because copying the properties would take most of the time in which a large tenant is made.
  const head = `{"id":${JSON.stringify(id)},"changeVersion":"${versionOf(sequence)}"`
  return {
    id,
    sequence,
    date: date as string | undefined,
    person: person as number | undefined,
    text: rest === '{}' ? `${head}}` : `${head},${rest.slice(1)}`,
  }
}

function without({ id: _id, changeVersion: _version, ...rest }: Fields): Fields {
  return rest
}

/**
 * Gives coordinates in a record 21 decimals, like a service with decimal columns. A double cannot represent so many.
 */
function withDecimals(text: string): string {
  if (!text.includes('"geolocation"')) return text
  return text.replace(
    /("(?:longitude|latitude)":-?\d+\.)(\d{1,15})(?=[,}])/g,
    (_, head: string, tail: string) => head.concat(tail.padEnd(15, '0'), '123456'),
  )
}

/** The properties of a stored record. */
export function fieldsOf({ text }: StoredRecord): Fields {
  return JSON.parse(text)
}

/**
 * Records that keep every digit: a number that a double cannot represent is written as its digits in the text of a
 * record, and as the object `{ "$digits": "9007199254740993" }` among its fields.
 */

// This cannot occur inside of a string, where the quotes would be escaped.
const marked = /\{"\$digits":"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"\}/g

// An escaped character, the start or end of a string, or a number.
const tokens = /\\.|"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

// Finds numbers that a double may not represent. Most records have none and are parsed at once, which is faster.
const long = /\d[\d.]{15}|[:,[]-?[\d.]+[eE]/

/** The text of fields; `keep` is the replacer of `JSON.stringify`. */
export function textOf(fields: Fields, keep?: (name: string, value: unknown) => unknown): string {
  return JSON.stringify(fields, keep).replace(marked, '$1')
}

/** The fields of a text. */
export function exactFieldsOf(text: string): Fields {
  if (!long.test(text)) return JSON.parse(text)
  let isInText = false
  const exact = text.replace(tokens, (token) => {
    if (token === '"') isInText = !isInText
    const isKept = isInText || !/\d$/.test(token) || JSON.stringify(Number(token)) === token
    return isKept ? token : `{"$digits":"${token}"}`
  })
  return JSON.parse(exact)
}

/** Whether a property is a number with `$digits`. */
export function isExactNumber(value: unknown): boolean {
  return Object.hasOwn(Object(value), '$digits')
}
