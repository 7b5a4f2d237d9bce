import { ClientError } from '../client/client-error.ts'
import type { WorkLocation } from '../client/service-client.ts'
import { folded, formOf } from '../ground/text.ts'
import { statusIs } from '../http/status.ts'
import type { PendingCreation } from './journal.ts'
import { refusalOf } from './outcome.ts'
import { canonicalId } from './read-record.ts'
import { groupBy } from './task-pool.ts'
import type { WriteClient } from './write-client.ts'

/**
 * The links between values and records for one name of references of one collection. The service keeps at most one
 * value per record and one record per value.
 */
export interface Links {
  /** The id of the record that has this value; undefined if no record has it, or if that is unknown. */
  idOf(value: string): string | undefined
  /** The value of a record; undefined if it has none, or if that is unknown. */
  valueOfId(id: string): string | undefined
  /** Whether this run has linked the value. */
  isOurs(value: string): boolean
  /** Links a value to a record, and removes the old link of either. */
  link(value: string, id: string): void
  unlink(value: string): void
}

/** The service's links, with the changes of this run. */
export interface CachedLinks extends Links {
  /** False if the service's list could not be read. Then only the changes of this run are known. */
  readonly isComplete: boolean
  /** Whether there is a list that could not be read, so that every record may have a value. */
  readonly isUnreadable: boolean
  /** The number of links in the list when it was read. */
  readonly initialSize: number
  values(): Iterable<string>
  /**
   * The spelling of a value that the service has, or that was requested first. Spellings differ only in spaces at
   * the ends and in the Unicode form, which the service may ignore.
   */
  spelled(value: string): string
  /** The listed values, as far as they are still linked, that have the form of this one: they may differ in case and spaces. */
  alike(value: string): readonly string[]
  /** The values that are linked or that records have named so far, by form; true for those that the service listed. */
  readonly seen: Map<string, Map<string, boolean>>
  /** The number of listed links that will be removed or moved after these changes. */
  takenAfter(changes: LinkChanges): number
  /** The number of listed links that are removed or moved now. */
  readonly taken: number
}

/** A link whose id may not be readable. */
interface ListedLink {
  readonly value: string
  readonly id: string | null
}

/** Creates the links from a list; for `isComplete` and `isUnreadable` see `CachedLinks`. */
export function createLinks(
  listed: readonly ListedLink[],
  isComplete: boolean,
  isUnreadable = false,
): CachedLinks {
  const ids = new Map(listed.map(({ value, id }) => [value, id]))
  const values = new Map(listed.map(({ value, id }) => [id, value]))
  const spellings = new Map(listed.map(({ value }) => [folded(value), value]))
  const forms = new Map(groupBy([...ids.keys()], formOf).map((one) => [formOf(one[0] ?? ''), one]))
  const unchangeable = () => {
    throw new Error('The list of the service is not changed.')
  }
  const list: Links = {
    idOf: (value) => ids.get(value) ?? undefined,
    valueOfId: (id) => values.get(id),
    isOurs: () => false,
    link: unchangeable,
    unlink: unchangeable,
  }
  const now = changesOf(list)
  const isLinked = (value: string) => now.idOf(value) !== undefined
  /** How many listed values lead to another record, or to none. */
  const taken = (changed: readonly string[], { idOf }: Links) =>
    [...new Set(changed)].filter((value) => ids.has(value) && ids.get(value) !== idOf(value)).length
  return {
    ...now,
    isComplete,
    isUnreadable,
    seen: new Map(),
    initialSize: ids.size,
    isOurs: (value) => isLinked(value) && list.idOf(value) !== now.idOf(value),
    values: () => [...new Set([...ids.keys(), ...now.changed()])].filter(isLinked),
    alike: (value) => (forms.get(formOf(value)) ?? []).filter(isLinked),
    spelled(value) {
      if (ids.has(value) || isLinked(value)) return value
      const known = spellings.get(folded(value)) ?? value
      spellings.set(folded(value), known)
      return known
    },
    takenAfter: (changes) => taken([...now.changed(), ...changes.changed()], changes),
    get taken() {
      return taken([...now.changed()], now)
    },
  }
}

/** Changes to links that are not applied until they are committed. */
export interface LinkChanges extends Links {
  /** The values whose links were set or removed, even if they are now what they were before. */
  changed(): Iterable<string>
  /** Applies the changes. */
  commit(): void
}

/** Creates an empty set of changes to `base`. */
export function changesOf(base: Links): LinkChanges {
  const ids = new Map<string, string | undefined>()
  const values = new Map<string, string | undefined>()
  return {
    idOf,
    valueOfId,
    isOurs: base.isOurs,
    link(value, id) {
      unlink(value)
      const former = valueOfId(id)
      if (former !== undefined) ids.set(former, undefined)
      ids.set(value, id)
      values.set(id, value)
    },
    unlink,
    changed: () => ids.keys(),
    commit() {
      for (const value of ids.keys()) base.unlink(value)
      for (const [value, id] of ids) if (id !== undefined) base.link(value, id)
    },
  }

  function idOf(value: string): string | undefined {
    return ids.has(value) ? ids.get(value) : base.idOf(value)
  }

  function valueOfId(id: string): string | undefined {
    return values.has(id) ? values.get(id) : base.valueOfId(id)
  }

  function unlink(value: string): void {
    const id = idOf(value)
    if (id !== undefined && valueOfId(id) === value) values.set(id, undefined)
    ids.set(value, undefined)
  }
}

/** The service's data, read once per run. Code that changes the service also changes the cache. */
export interface ServiceCache {
  /** The references under one name of one collection. */
  links(collection: string, name: string): Promise<CachedLinks>
  /** Reads them again when they are needed next. */
  forget(collection: string, name: string): void
  /** All work locations by id. */
  workLocations(): Promise<Map<string, WorkLocation>>
  /** Reads the work locations again. */
  readWorkLocations(): Promise<Map<string, WorkLocation>>
  /** Work locations that this run has requested or held back, because the service may still create one of the name. */
  readonly unconfirmed: Set<PendingCreation>
  /** Names of work locations whose creation was refused. Before another attempt, the list must show that they do not exist. */
  readonly refused: Set<string>
}

/** Creates an empty cache that reads with this client. */
export function createServiceCache(client: WriteClient): ServiceCache {
  const lists = new Map<string, Promise<CachedLinks>>()
  let locations: Promise<Map<string, WorkLocation>> | undefined
  const readWorkLocations = () => (locations = listWorkLocations())
  return {
    links(collection, name) {
      const key = JSON.stringify([collection, name])
      const known = lists.get(key) ?? readLinks(collection, name)
      lists.set(key, known)
      return known
    },
    forget: (collection, name) => void lists.delete(JSON.stringify([collection, name])),
    workLocations: () => locations ?? readWorkLocations(),
    readWorkLocations,
    unconfirmed: new Set(),
    refused: new Set(),
  }

  async function readLinks(collection: string, name: string): Promise<CachedLinks> {
    const listed: ListedLink[] = []
    let seen = 0
    try {
      for await (const reference of client.references.list(collection, name)) {
        const { value, internalReference } = reference
        seen++
        // If the service does not filter by name, it returns all.
        if (folded(reference.name) !== folded(name)) continue
        const id = internalReference === null ? null : canonicalId(collection, internalReference)
        listed.push({ value, id })
      }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      // With 404 the service may say that there are none yet.
      return createLinks([], false, !statusIs(error.status, 'missing'))
    }
    // If the service writes the name in another way, a list without it does not say that there are none.
    const isOfName = seen === 0 || listed.length > 0
    return createLinks(listed, isOfName && listed.every(({ id }) => id !== null))
  }

  async function listWorkLocations(): Promise<Map<string, WorkLocation>> {
    const found = new Map<string, WorkLocation>()
    for await (const location of client.workLocations.list()) found.set(location.id, location)
    return found
  }
}

/**
 * Whether a list of references could not be read. The form of these lists is not documented, so this is not a failure:
 * a missing, refused or unreadable list says nothing about the references, and PUTs are idempotent.
 */
function isUnreadable(error: unknown): error is ClientError {
  if (!(error instanceof ClientError)) return false
  return (
    statusIs(error.status, 'unknown') ||
    statusIs(error.status, 'no access') ||
    (error.status === undefined && error.failure === 'system')
  )
}

/** The id of a value's record; `unanswered` if the service does not say. */
export type FoundReference = { readonly id: string } | 'unanswered' | undefined

/** Reads one value. Throws only errors after which nothing more of the object can be written. */
export async function lookUpReference(
  { references }: WriteClient,
  collection: string,
  name: string,
  value: string,
): Promise<FoundReference> {
  try {
    const found = await references.get(collection, name, value)
    if (found === undefined) return undefined
    if (found.internalReference === null) return 'unanswered'
    return { id: canonicalId(collection, found.internalReference) }
  } catch (error) {
    refusalOf(error)
    return 'unanswered'
  }
}
