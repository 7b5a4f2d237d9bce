import { collections } from '../collections/collections.ts'
import { referenceTargets } from '../collections/documented-collections.ts'
import { notValid } from '../http/service-error.ts'

/** One pair of the parameter `externalReferences`: a reference name of a collection. */
export interface ReferencePair {
  readonly collection: string
  readonly name: string
}

/**
 * Predefined reference names of a collection with the properties behind them; undefined when it
 * takes no references.
 */
export function predefinedOf(collection: string): Readonly<Record<string, string>> | undefined {
  const facts = collections[collection]
  return facts?.custom ? facts.predefined : referenceTargets[collection]
}

/**
 * Reads `(<collection>,<name>)(<collection>,<name>)...`. Anything else is a 400, and so is a
 * collection that the endpoint does not allow.
 */
export function parsePairs(text: string | undefined, allowed: readonly string[]): ReferencePair[] {
  if (text === undefined) return []
  if (allowed.length === 0) throw notValid('externalReferences is not supported here')
  if (!/^(\([^(),]+,[^(),]+\))+$/.test(text)) {
    throw notValid('externalReferences has the form (collection,name)(collection,name)')
  }
  return [...text.matchAll(/\(([^,]+),([^)]+)\)/g)].map(([, collection = '', name = '']) => {
    const pair = { collection: collection.trim(), name: name.trim() }
    checkPair(pair, allowed)
    return pair
  })
}

function checkPair({ collection, name }: ReferencePair, allowed: readonly string[]): void {
  if (!allowed.includes(collection)) {
    throw notValid(`External references of ${collection} are not supported here`)
  }
  if (name.startsWith('@') && !(name in (predefinedOf(collection) ?? {}))) {
    throw notValid(`${collection} has no predefined reference ${name}`)
  }
}
