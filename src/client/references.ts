import { isJsonObject, type JsonObject } from '../ground/json.ts'
import { folded, isBlank } from '../ground/text.ts'
import { referencesParameter } from '../http/endpoints.ts'
import { parseReference, parseReferencePage } from '../page/reference-page.ts'
import { ClientError } from './client-error.ts'
import { member, type Operation, parseOne, type Requests, textOf } from './requests.ts'
import type { RecordKey, References } from './service-client.ts'

/** The prefix of predefined references, which only the service can set. */
const PREDEFINED = '@'

/** Half of a surrogate pair: no URL can contain it. */
const HALF_CHARACTER = /\p{Surrogate}/u

const INTEGER = /^(0|[1-9]\d*)$/
const GUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Why a custom reference cannot have this name; undefined if it can. */
export function nameFault(name: string): string | undefined {
  if (isBlank(name)) return 'The name of the reference is empty.'
  if (HALF_CHARACTER.test(name))
    return 'The name of the reference is not valid text: it contains an unpaired surrogate.'
  return name.startsWith(PREDEFINED)
    ? `The reference ${name} is predefined by the service: it can only be read with the records. Your own names must not begin with ${PREDEFINED}.`
    : undefined
}

/**
 * Why a reference cannot have this value; undefined if it can. The reason does not repeat the value.
 */
export function valueFault(value: string): string | undefined {
  if (isBlank(value)) return 'The value of the reference is empty.'
  return HALF_CHARACTER.test(value)
    ? 'The value of the reference is not valid text: it contains an unpaired surrogate.'
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

    async find(collection, name, value, options) {
      refuse(collectionFault(collection) ?? valueFault(value))
      const where = addressByReference(collection, { name, value })
      const operation = {
        ...where,
        method: 'GET',
        scope: `${collection}.read`,
        ...options,
      } as const
      return get(operation, ({ text }) => {
        const answer = parseOne(text)
        const id = textOf(member(answer, 'id'))
        if (id === undefined) throw new SyntaxError('a record has no id')
        checkNamed(collection, { name, value }, id, answer)
        return id
      })
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

type ByReference = Exclude<RecordKey, { readonly id: string }>

/** The address of a record by one of its references: the value in the path, the name in the query. */
export function addressByReference(
  collection: string,
  { name, value }: ByReference,
): Pick<Operation, 'path' | 'value' | 'query'> {
  return { path: [collection, value], value, query: referencesParameter([[collection, name]]) }
}

/**
 * A service may read a value that is a whole number as an id, which belongs to another record. So the answer
 * must show the value that was requested. If it shows no value, the id must not be what some parser makes of
 * the value.
 */
export function checkNamed(
  collection: string,
  { name, value }: ByReference,
  id: string,
  answer: JsonObject,
): void {
  const references = member(answer, 'externalReferences')
  const shown = isJsonObject(references) ? textOf(member(references, name)) : undefined
  const isTakenForId = integerIn(value) === integerIn(id)
  if (shown === undefined ? !isTakenForId : isSame(shown, value)) return
  throw new ClientError(
    'config',
    'value-taken-for-id',
    shown === undefined || isTakenForId
      ? `The service took a value of the reference ${name} for the id of one of the ${collection}. Name it by its id.`
      : `The service responded with one of the ${collection} that has another value of the reference ${name}. Name it by its id.`,
  )
}

/** Values that a service may treat as equal are equal: it may ignore case. */
function isSame(a: string, b: string): boolean {
  return folded(a).toLowerCase() === folded(b).toLowerCase()
}

/** The whole number that some parser reads from a text, without its zeros; otherwise the text. */
function integerIn(text: string): string {
  const digits = /^\s*\+?0*(\d+)(?:[.,]0*)?\s*$/.exec(text.normalize('NFKC'))?.[1]
  return digits ?? text
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
  return isBlank(collection) ? 'The name of the collection is empty.' : undefined
}

function refuse(fault: string | undefined): void {
  if (fault !== undefined) throw new ClientError('config', 'name-not-valid', fault)
}
