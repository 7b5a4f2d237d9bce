import { parseReference, parseReferencePage } from '../page/reference-page.ts'
import { ClientError } from './client-error.ts'
import type { Operation, Requests } from './requests.ts'
import type { References } from './service-client.ts'

/** The prefix of predefined references, which only the service can set. */
const PREDEFINED = '@'

/** Half of a surrogate pair: no URL can contain it. */
const HALF_CHARACTER = /\p{Surrogate}/u

const INTEGER = /^(0|[1-9]\d*)$/
const GUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Why a custom reference cannot have this name; undefined if it can. */
export function nameFault(name: string): string | undefined {
  if (name === '') return 'The name of the reference is empty.'
  if (HALF_CHARACTER.test(name))
    return 'The name of the reference is not valid text: it contains half a character.'
  return name.startsWith(PREDEFINED)
    ? `The reference ${name} is predefined by the service: it can only be read with the records. Your own names must not begin with ${PREDEFINED}.`
    : undefined
}

/**
 * Why a reference cannot have this value; undefined if it can. The reason does not repeat the value.
 */
export function valueFault(value: string): string | undefined {
  if (value === '') return 'The value of the reference is empty.'
  return HALF_CHARACTER.test(value)
    ? 'The value of the reference is not valid text: it contains half a character.'
    : undefined
}

/** Why this is not an id of a record of the collection; undefined if it is. */
export function idFault(collection: string, id: string): string | undefined {
  if (collection === 'activity-definitions') {
    return GUID.test(id) ? undefined : `The id of one of the ${collection} is a GUID.`
  }
  return INTEGER.test(id) ? undefined : `The id of one of the ${collection} is a whole number.`
}

const COLLECTION = 'external-references'
const READ = `${COLLECTION}.read`
const WRITE = `${COLLECTION}.write`

/** The custom references of the service. An invalid one is refused before it is sent. */
export function createReferences({ send, get, pages, remove }: Requests): References {
  return {
    async *list(collection, name, options) {
      refuse(collectionFault(collection) ?? (name === undefined ? undefined : nameFault(name)))
      const path = [COLLECTION, collection, ...(name === undefined ? [] : [name])]
      yield* pages({ method: 'GET', path, scope: READ, ...options }, (text) => {
        const { references, nextLink } = parseReferencePage(text, collection, name)
        return { items: references, nextLink }
      })
    },

    async get(collection, name, value, options) {
      const where = address(collection, name, value)
      const operation = { ...where, method: 'GET', scope: READ, ...options } as const
      return get(operation, ({ text }) => parseReference(text, { collection, name, value }))
    },

    async put({ collection, name, value, internalReference }, options) {
      const where = address(collection, name, value)
      refuse(idFault(collection, internalReference))
      await send({ ...where, method: 'PUT', scope: WRITE, body: { internalReference }, ...options })
    },

    async remove(collection, name, value, options) {
      return remove({
        ...address(collection, name, value),
        method: 'DELETE',
        scope: WRITE,
        ...options,
      })
    },
  }
}

function address(
  collection: string,
  name: string,
  value: string,
): Pick<Operation, 'path' | 'value'> {
  refuse(collectionFault(collection) ?? nameFault(name) ?? valueFault(value))
  return { path: [COLLECTION, collection, name, value], value }
}

function collectionFault(collection: string): string | undefined {
  return collection === '' ? 'The name of the collection is empty.' : undefined
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new ClientError('config', 'name-not-valid', fault)
}
