import { Numbers } from './numbers.ts'
import type { Id, StoredRecord } from './stored-record.ts'
import type { NewVersion, Versions } from './versions.ts'

/**
 * The present records of a collection, ascending by id. A record is made when it is asked for, so
 * that two of one version are not the same object.
 */
export class Records implements Iterable<StoredRecord> {
  readonly #versions: Versions
  /** The indexes of the present versions. */
  readonly #present = new Numbers(Uint32Array)

  constructor(versions: Versions) {
    this.#versions = versions
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

  map<T>(to: (record: StoredRecord) => T): T[] {
    return Array.from(this, to)
  }

  /** Adds a record, or replaces the one with its id. */
  put(version: NewVersion): StoredRecord {
    const { id } = version
    const index = this.#versions.add(version)
    const position = this.#position(id)
    if (this.#has(position, id)) this.#present.set(position, index)
    else this.#present.insert(index, position)
    return this.#versions.at(index)
  }

  remove(id: Id): void {
    this.#present.remove(this.#position(id))
  }

  /** The position of the first record whose id is not less. */
  #position(id: Id): number {
    let low = 0
    let high = this.length
    // New records mostly follow all others.
    if (high > 0 && this.#id(high - 1) < id) return high
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#id(middle) < id) low = middle + 1
      else high = middle
    }
    return low
  }

  #has(position: number, id: Id): boolean {
    return position < this.length && this.#id(position) === id
  }

  #id(position: number): Id {
    return this.#versions.id(this.#present.at(position))
  }
}
