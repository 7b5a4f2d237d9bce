import { ConnectorError } from '../ground/errors.ts'
import type { CachedLinks, ServiceCache } from './service-cache.ts'

/** A reference that is to be deleted because the input does not have it. */
interface Surplus {
  readonly collection: string
  readonly name: string
  readonly value: string
  /** The links of its collection and name. */
  readonly links: CachedLinks
}

/** The keys of references in the input so far. */
export interface InputKeys {
  /** Adds a record; without a value for one that deletes. It counts whether or not it could be written. */
  add(collection: string, name: string, value: string | undefined): void
  /** Adds a record whose key could not be read. */
  addUnreadable(): void
  /**
   * The references beyond the input, within its collections and names. Throws a config error when there
   * are too many to be believed, or when it is not known what the input or the service has.
   */
  surplus(cache: ServiceCache): Promise<readonly Surplus[]>
}

/** More than this part of the references under a name is never deleted. */
const MOST = 0.2

/** Makes an empty collection of keys. */
export function createInputKeys(): InputKeys {
  const groups = new Map<string, { collection: string; name: string; values: Set<string> }>()
  let unreadable = 0
  return {
    add(collection, name, value) {
      const key = JSON.stringify([collection, name])
      const group = groups.get(key) ?? { collection, name, values: new Set() }
      groups.set(key, group)
      if (value !== undefined) group.values.add(value)
    },
    addUnreadable: () => {
      unreadable++
    },
    async surplus(cache) {
      if (unreadable > 0)
        throw refused(
          `the keys of ${unreadable} records could not be read, which may be among them`,
        )
      const surplus: Surplus[] = []
      for (const { collection, name, values } of groups.values()) {
        const links = await cache.links(collection, name)
        const beyond = valuesBeyond(links, values, `${collection}, ${name}`)
        surplus.push(...beyond.map((value) => ({ collection, name, value, links })))
      }
      return surplus
    },
  }
}

function valuesBeyond(links: CachedLinks, values: ReadonlySet<string>, group: string): string[] {
  if (!links.isComplete) throw refused(`the list of references of ${group} cannot be read`)
  const beyond = [...links.values()].filter((value) => !values.has(value))
  if (beyond.length > links.initialSize * MOST) {
    const part = Math.round((beyond.length / Math.max(1, links.initialSize)) * 100)
    throw refused(
      `${beyond.length} of ${links.initialSize} references of ${group} (${part} %) are not in the input, and more than ${MOST * 100} % are never deleted`,
    )
  }
  return beyond
}

function refused(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    `The mirror was refused and deleted nothing: ${reason}. Check that the input is complete, or delete them by records with a deletion mark.`,
  )
}
