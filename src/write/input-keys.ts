import { ConnectorError } from '../ground/errors.ts'
import { type Limit, limitText, mostOf } from '../ground/limit.ts'
import { folded, formOf } from '../ground/text.ts'
import type { CachedLinks, ServiceCache } from './service-cache.ts'

/** A reference that would be deleted because it is not in the input. */
export interface Surplus {
  readonly collection: string
  readonly name: string
  readonly value: string
  readonly internalReference: string | undefined
  /** The links of its collection and name. */
  readonly links: CachedLinks
}

/** The keys of references in the input so far. */
export interface InputKeys {
  /**
   * Adds a record; without a value for a deletion. It counts whether or not it could be written.
   */
  add(collection: string, name: string, value: string | undefined): void
  /** Adds a record whose key could not be read. */
  addUnreadable(): void
  /** Makes the mirror refuse for this reason. */
  refuse(reason: string): void
  /**
   * The references that are not in the input, within its collections and names, and a config error if there
   * are too many to be plausible, or if the input or the service's list is not known completely.
   */
  surplus(cache: ServiceCache): Promise<{
    readonly surplus: readonly Surplus[]
    readonly refusal: ConnectorError | undefined
  }>
}

/** The message that a mirror would remove too many of the links under a name. */
export function tooManyTaken(
  taken: number,
  { initialSize }: CachedLinks,
  group: string,
  most: Limit,
): string {
  const part = Math.round((taken / Math.max(1, initialSize)) * 100)
  return `${taken} of ${initialSize} references of ${group} (${part} %) would be deleted or moved, and max_deletes allows ${limitText(most)}`
}

/** Creates an empty collection of keys, for a mirror that may remove this much under each name. */
export function createInputKeys(most: Limit): InputKeys {
  const groups = new Map<string, { collection: string; name: string; values: Set<string> }>()
  let unreadable = 0
  let refusal: string | undefined
  return {
    add(collection, name, value) {
      const key = JSON.stringify([collection, folded(name)])
      const group = groups.get(key) ?? { collection, name, values: new Set() }
      groups.set(key, group)
      if (value !== undefined) group.values.add(folded(value))
    },
    addUnreadable: () => {
      unreadable++
    },
    refuse(reason) {
      refusal ??= reason
    },
    async surplus(cache) {
      const surplus: Surplus[] = []
      if (unreadable > 0)
        refusal ??= `${unreadable === 1 ? '1 record' : `${unreadable} records`} could not be read and may be among them`
      for (const { collection, name, values } of groups.values()) {
        const links = await cache.links(collection, name)
        const group = `${collection}, ${name}`
        if (!links.isComplete) {
          refusal ??= `the list of references of ${group} cannot be read, or has none of exactly this name`
          continue
        }
        const listed = [...links.values()]
        const present = new Set(listed.map(folded))
        // A service that ignores case or blanks has these in another form.
        const forms = new Set([...values].filter((value) => !present.has(value)).map(formOf))
        const beyond = listed.filter(
          (value) => !values.has(folded(value)) && !forms.has(formOf(value)),
        )
        const taken = links.taken + beyond.length
        if (taken > mostOf(links.initialSize, most))
          refusal ??= tooManyTaken(taken, links, group, most)
        for (const value of beyond)
          surplus.push({ collection, name, value, internalReference: links.idOf(value), links })
      }
      return { surplus, refusal: refusal === undefined ? undefined : refused(refusal) }
    },
  }
}

function refused(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    'mirror-refused',
    `The mirror was refused and deleted nothing: ${reason}. Check that the input is complete and correct; a dry run lists what would be deleted. If it is correct, raise max_deletes, or delete with records that have a deletion column.`,
  )
}
