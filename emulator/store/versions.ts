import type { Blocks } from './blocks.ts'
import { Numbers } from './numbers.ts'
import { RepeatedValues } from './repeated-values.ts'
import type { Id, StoredRecord } from './stored-record.ts'
import { Texts } from './texts.ts'

/** A version of a record, as it is added. */
export interface NewVersion extends Omit<StoredRecord, 'version'> {
  /** The number of the change that made it. */
  readonly sequence: number
}

/**
 * Every version of every record of a collection, in the order in which they were made: also the
 * replaced and deleted ones, which the history refers to.
 */
export class Versions {
  readonly #ids = new Numbers(Float64Array)
  /** The ids that are no numbers. */
  readonly #guids = new Map<number, string>()
  readonly #sequences = new Numbers(Uint32Array)
  readonly #dates = new RepeatedValues<string | undefined>()
  readonly #people = new RepeatedValues<number | undefined>()
  readonly #texts: Texts

  constructor(blocks: Blocks) {
    this.#texts = new Texts(blocks)
  }

  /** Adds a version; returns its index. */
  add({ id, sequence, date, person, text }: NewVersion): number {
    const index = this.#ids.length
    if (typeof id === 'string') this.#guids.set(index, id)
    this.#ids.insert(typeof id === 'string' ? Number.NaN : id)
    this.#sequences.insert(sequence)
    this.#dates.push(date)
    this.#people.push(person)
    this.#texts.push(text)
    return index
  }

  at(index: number): StoredRecord {
    return new Version(this, index)
  }

  id(index: number): Id {
    const id = this.#ids.at(index)
    return Number.isNaN(id) ? (this.#guids.get(index) as string) : id
  }

  version(index: number): string {
    return versionOf(this.#sequences.at(index))
  }

  date(index: number): string | undefined {
    return this.#dates.at(index)
  }

  person(index: number): number | undefined {
    return this.#people.at(index)
  }

  text(index: number): string {
    return this.#texts.at(index)
  }

  /** Tests whether a version is about this person. */
  isAbout(person: unknown): (index: number) => boolean {
    return this.#people.tester(person)
  }

  /** The bytes of the texts of these versions, with commas between. */
  parts(indexes: readonly number[]): Buffer[] {
    return this.#texts.parts(indexes)
  }
}

/** A record whose properties are looked up when they are needed. */
class Version implements StoredRecord {
  readonly #versions: Versions
  readonly #index: number

  constructor(versions: Versions, index: number) {
    this.#versions = versions
    this.#index = index
  }

  get id(): Id {
    return this.#versions.id(this.#index)
  }

  get version(): string {
    return this.#versions.version(this.#index)
  }

  get date(): string | undefined {
    return this.#versions.date(this.#index)
  }

  get person(): number | undefined {
    return this.#versions.person(this.#index)
  }

  get text(): string {
    return this.#versions.text(this.#index)
  }
}

/** 20 upper-case hexadecimal characters that rise with every change of any collection. */
export function versionOf(sequence: number): string {
  return `00000A1000${sequence.toString(16).toUpperCase().padStart(10, '0')}`
}
