import type { ResolvedOptions } from '../options.ts'
import type { Id } from '../store/store.ts'
import type { ReferencePair } from './reference-pairs.ts'

/** A custom reference as its endpoint shows it. */
export interface CustomReference {
  readonly referenceName: string
  readonly externalReference: string
  readonly internalReference: string
}

/** The custom references of all collections. */
export interface CustomReferences {
  /**
   * Gives the record with this id a value under a name. It replaces the value that the record had, and
   * another record that had this value loses it.
   */
  set(collection: string, name: string, value: string, id: Id): void
  remove(collection: string, name: string, value: string): void
  /** Removes all references of a record. */
  forget(collection: string, id: Id): void
  /** The references of a collection by name and value. */
  list(collection: string): readonly CustomReference[]
  /** The reference with this value, as it was registered. */
  get(pair: ReferencePair & { readonly value: string }): CustomReference | undefined
  /** The id behind a value. */
  find(pair: ReferencePair, value: string): Id | undefined
  /** The value that a record has under a name. */
  valueOf(pair: ReferencePair, id: Id): string | undefined
}

/** The values under one name of a collection, by value and by id. */
interface Names {
  readonly collection: string
  readonly name: string
  readonly ids: Map<string, Id>
  readonly values: Map<Id, string>
}

/** Starts without references. */
export function createCustomReferences(
  options: Pick<ResolvedOptions, 'referenceCase'>,
): CustomReferences {
  const all = new Map<string, Names>()
  // Lists are asked for page by page, and sorting many takes long.
  const lists = new Map<string, readonly CustomReference[]>()

  const key = (collection: string, name: string) => `${collection} ${name}`
  const namesOf = (collection: string, name: string) => all.get(key(collection, name))
  /** The value as it was registered. */
  const registered = (names: Names | undefined, value: string): string | undefined => {
    if (!names || names.ids.has(value)) return names && value
    if (options.referenceCase === 'sensitive') return undefined
    return [...names.ids.keys()].find((one) => one.toLowerCase() === value.toLowerCase())
  }
  const unlink = (names: Names, value: string | undefined) => {
    const id = names.ids.get(value ?? '')
    if (value === undefined || id === undefined) return
    names.ids.delete(value)
    names.values.delete(id)
    lists.delete(names.collection)
  }

  return {
    set(collection, name, value, id) {
      const known = namesOf(collection, name)
      const names = known ?? { collection, name, ids: new Map(), values: new Map() }
      all.set(key(collection, name), names)
      unlink(names, names.values.get(id))
      unlink(names, registered(names, value))
      names.ids.set(value, id)
      names.values.set(id, value)
      lists.delete(collection)
    },
    remove(collection, name, value) {
      const names = namesOf(collection, name)
      if (names) unlink(names, registered(names, value))
    },
    forget(collection, id) {
      for (const names of all.values()) {
        if (names.collection === collection) unlink(names, names.values.get(id))
      }
    },
    list(collection) {
      const known = lists.get(collection)
      if (known) return known
      const groups = [...all.values()].filter((names) => names.collection === collection)
      const list = groups.flatMap(({ name, ids }) => [...ids].map(shown(name))).sort(byNameAndValue)
      lists.set(collection, list)
      return list
    },
    get({ collection, name, value }) {
      const names = namesOf(collection, name)
      const found = registered(names, value)
      const id = found === undefined ? undefined : names?.ids.get(found)
      return found === undefined || id === undefined ? undefined : shown(name)([found, id])
    },
    find({ collection, name }, value) {
      const names = namesOf(collection, name)
      return names?.ids.get(registered(names, value) ?? '')
    },
    valueOf: ({ collection, name }, id) => namesOf(collection, name)?.values.get(id),
  }
}

function shown(name: string): (entry: readonly [string, Id]) => CustomReference {
  return ([value, id]) => ({
    referenceName: name,
    externalReference: value,
    internalReference: String(id),
  })
}

function byNameAndValue(a: CustomReference, b: CustomReference): number {
  const left = `${a.referenceName} ${a.externalReference}`
  const right = `${b.referenceName} ${b.externalReference}`
  return left < right ? -1 : Number(left > right)
}
