import type { Fields, Id, Store } from '../store/store.ts'

/** A list from which an element is picked. */
interface Choices<T> {
  readonly length: number
  at(index: number): T | undefined
}

/** A reproducible source of random values. */
export interface Random {
  /** An integer from `min` to `max`, both included. */
  int(min: number, max: number): number
  pick<T>(choices: Choices<T>): T
  /** True with the given probability. */
  chance(probability: number): boolean
  /** A random GUID. */
  guid(): string
}

/** The same seed gives the same sequence (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  const hex = (length: number) => Array.from({ length }, () => int(0, 15).toString(16)).join('')
  return {
    int,
    pick: <T>(choices: Choices<T>) => choices.at(int(0, choices.length - 1)) as T,
    chance: (probability) => next() < probability,
    guid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`,
  }
}

/** What a new record is made from. */
export interface Context {
  readonly random: Random
  readonly store: Store
  /** The date of dated records. */
  readonly date: string
  /** The person of personal records. */
  readonly person: Id
}

/** Makes the properties of one plausible record, without id and version. */
export type Make = (context: Context) => Fields

/** A link to some record of a collection; to id 1 when there is none. */
export function link({ random, store }: Context, collection: string): { id: Id } {
  const records = store.records(collection)
  return { id: records.length === 0 ? 1 : random.pick(records).id }
}

/** The link to the context's person. */
export function person({ person: id }: Context): { id: Id } {
  return { id }
}

/** Levels of the activity structure with a definition each. */
export function activityLevels(context: Context): Fields[] {
  const { random, store } = context
  const definitions = store.records('activity-definitions')
  if (definitions.length === 0) return []
  const { id, text } = random.pick(definitions)
  return [{ level: (JSON.parse(text) as Fields)['level'], activityDefinition: { id } }]
}
