import { ClientError } from '../client/client-error.ts'
import type { WorkLocation } from '../client/service-client.ts'
import { type CachedLinks, createLinks, type ListedLink } from './links.ts'
import { canonicalId } from './read-reference.ts'
import type { WriteClient } from './write-client.ts'

/** What the service has, read once per run. Whoever changes the service changes the cache too. */
export interface ServiceCache {
  /** The references under one name of one collection. */
  links(collection: string, name: string): Promise<CachedLinks>
  /** All work locations by id. */
  workLocations(): Promise<Map<string, WorkLocation>>
  /** Reads the work locations anew. */
  readWorkLocations(): Promise<Map<string, WorkLocation>>
  /** Keys of work locations whose creation was not confirmed: the service may still be at work. */
  readonly unconfirmed: Set<string>
}

/** Makes an empty cache; it reads by this client. */
export function createServiceCache(client: WriteClient): ServiceCache {
  const lists = new Map<string, Promise<CachedLinks>>()
  let locations: Promise<Map<string, WorkLocation>> | undefined
  return {
    links(collection, name) {
      const key = JSON.stringify([collection, name])
      const known = lists.get(key) ?? readLinks(collection, name)
      lists.set(key, known)
      return known
    },
    workLocations: () => locations ?? readWorkLocations(),
    readWorkLocations,
    unconfirmed: new Set(),
  }

  async function readLinks(collection: string, name: string): Promise<CachedLinks> {
    const listed: ListedLink[] = []
    try {
      for await (const reference of client.references.list(collection, name)) {
        const { value, internalReference } = reference
        // A service that does not filter by name answers with all.
        if (reference.name !== name) continue
        const id = internalReference === null ? null : canonicalId(collection, internalReference)
        listed.push({ value, id })
      }
    } catch (error) {
      if (isUnreadable(error)) return createLinks([], false)
      throw error
    }
    return createLinks(
      listed,
      listed.every(({ id }) => id !== null),
    )
  }

  function readWorkLocations(): Promise<Map<string, WorkLocation>> {
    locations = listWorkLocations()
    return locations
  }

  async function listWorkLocations(): Promise<Map<string, WorkLocation>> {
    const found = new Map<string, WorkLocation>()
    for await (const location of client.workLocations.list()) found.set(location.id, location)
    return found
  }
}

/**
 * The form of lists of references is not documented. One that cannot be read, or is refused for what it
 * asks for, says nothing of the references: puts are idempotent, and the service checks them.
 */
function isUnreadable(error: unknown): boolean {
  if (!(error instanceof ClientError)) return false
  return error.status === 400 || (error.status === undefined && error.failure === 'system')
}
