import { webhookCollections } from '../client/service-client.ts'
import { nearest } from '../ground/text.ts'
import { referencedCollections } from '../streams/collections.ts'
import { UsageError } from './command.ts'

/**
 * The name, if it is one of these. Otherwise throws a UsageError that says what does not exist, such as
 * `there is no stream`, and which name was probably meant.
 */
export function knownName(name: string, names: readonly string[], lack: string): string {
  if (names.includes(name)) return name
  const meant = nearest(name, names)
  const advice =
    meant === undefined ? `choose one of ${names.join(', ')}` : `did you mean ${meant}?`
  throw new UsageError(`${lack} ${name === '' ? 'an empty name' : name}; ${advice}`)
}

/** The service's name of a collection that has external references. */
export function referencedCollection(text: string): string {
  return knownName(collectionName(text), referencedCollections, 'there are no references of')
}

/** The service's name of a collection that has webhooks. */
export function webhookCollection(text: string): string {
  return knownName(collectionName(text), webhookCollections, 'there are no webhooks of')
}

/** The service's spelling, even if a stream was named: `access-clockings`. */
function collectionName(text: string): string {
  return text.trim().replaceAll('_', '-')
}
