import { collections, hasRecords, relations } from '../collections/collections.ts'
import type { Service } from '../endpoints/service.ts'
import {
  json,
  notValid,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import { parseId, predefinedOf } from '../references/references.ts'
import { fieldsOf, type Id, type Store } from '../store/store.ts'
import { bodyNotValid, readBody } from './body.ts'

/** What the path of one reference names. */
export interface ReferencePath {
  readonly collection: string
  readonly name: string
  readonly value: string
}

/** What writing references needs of the service. */
type Parts = Pick<Service, 'references' | 'store' | 'options'>

/**
 * Links a value to the record with this id. To link it again changes nothing. Throws a `ServiceError`
 * for a collection without references, a predefined or empty name, an empty value, a text that is no
 * id of the collection, and a value that is linked to another id; options say what a second value for
 * a record does, and an id that no record has.
 */
export function putReference(service: Parts, path: ReferencePath, internal: string): void {
  const { references, options } = service
  const { collection, name, value } = path
  checkCustom(collection, name)
  if (name === '' || value === '') throw notValid('A reference has a name and a value')
  const id = parseId(collection, internal)
  if (id === undefined) throw notValid(`${internal} is no id of ${collection}`)
  checkRecord(service, collection, id)
  const linked = references.find(path, value)
  if (linked !== undefined && linked !== id) {
    throw notValid(`${name} ${value} is linked to ${linked}: delete that reference first`)
  }
  const before = references.valueOf(path, id)
  if (before === value) return
  // Where case does not matter, another spelling of its value is no second value.
  if (before !== undefined && linked === undefined && options.secondValue === 'conflict') {
    throw notValid(`${id} has the ${name} ${before} already: delete that reference first`)
  }
  references.set(collection, name, value, id)
  renewVersions(service, collection, id)
}

/** Removes a reference; false when it is not registered. Throws like `putReference` for the path. */
export function deleteReference(service: Parts, path: ReferencePath): boolean {
  const { references } = service
  checkCustom(path.collection, path.name)
  const id = references.find(path, path.value)
  if (id === undefined) return false
  references.remove(path.collection, path.name, path.value)
  renewVersions(service, path.collection, id)
  return true
}

/** Refuses a collection without references, and a name that custom references cannot have. */
export function checkCustom(collection: string, name?: string): void {
  if (!predefinedOf(collection)) throw notValid(`${collection} takes no external references`)
  if (name?.startsWith('@')) throw notValid(`${name} is no custom reference: it is predefined`)
}

function checkRecord({ store, options }: Parts, collection: string, id: Id): void {
  if (options.unknownRecord === 'accepted' || !hasRecords(collection)) return
  if (store.find(collection, id)) return
  const sentence = `There is no record ${id} in ${collection}`
  throw options.unknownRecord === 'not-valid' ? notValid(sentence) : new ServiceError(404, sentence)
}

function renewVersions({ store, options }: Parts, collection: string, id: Id): void {
  if (options.referenceChange === 'nothing' || !hasRecords(collection)) return
  renew(store, collection, id)
  if (options.referenceChange === 'record') return
  for (const other of Object.keys(collections)) {
    const referring = store
      .records(other)
      .filter((record) => refersTo(fieldsOf(record), collection, id))
    for (const record of referring) renew(store, other, record.id)
  }
}

function renew(store: Store, collection: string, id: Id): void {
  const record = store.find(collection, id)
  if (record) store.put(collection, id, fieldsOf(record))
}

function refersTo(value: unknown, collection: string, id: Id): boolean {
  return Object.entries(Object(value)).some(([property, inner]) =>
    (Array.isArray(inner) ? inner : [inner]).some(
      (one) =>
        typeof one === 'object' &&
        one !== null &&
        ((relations[property] === collection && one.id === id) || refersTo(one, collection, id)),
    ),
  )
}

/** Handles the PUT of a reference: 200. */
export function handlePutReference(
  service: Service,
  request: ServiceRequest,
  path: ReferencePath,
): ServiceResponse {
  checkCustom(path.collection, path.name)
  const { options, references } = service
  putReference(service, path, readInternalReference(request, options))
  if (options.referenceAnswer === 'empty') return { status: 200, body: '' }
  return json(JSON.stringify(references.get(path)))
}

/** Handles the DELETE of a reference: 204. */
export function handleDeleteReference(service: Service, path: ReferencePath): ServiceResponse {
  const { collection, name, value } = path
  const isKnown = deleteReference(service, path)
  if (isKnown || service.options.unknownValue === 'no-content') return { status: 204, body: '' }
  throw new ServiceError(404, `${collection} has no reference ${name} ${value}`)
}

function readInternalReference(request: ServiceRequest, options: ResolvedOptions): string {
  const property = 'internalReference'
  const given = readBody(request, options)[property]
  if (typeof given === 'string') return given
  if (typeof given === 'number' && options.numericReference === 'taken') return String(given)
  throw bodyNotValid([{ property, message: 'is no text' }], options)
}
