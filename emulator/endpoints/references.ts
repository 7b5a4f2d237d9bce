import { hasRecords } from '../collections/collections.ts'
import {
  json,
  notValid,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../http/messages.ts'
import { type CustomReference, parseId, predefinedOf } from '../references/references.ts'
import type { Id } from '../store/store.ts'
import { bodyNotValid, leftBy, pageBody, readBody } from './bodies.ts'
import type { Route, Service } from './service.ts'

/** Handles the lists of custom references: those of a collection, or of one name of it. */
function handleReferenceList(
  service: Service,
  request: ServiceRequest,
  collection: string,
  name?: string,
): ServiceResponse {
  checkCustom(collection, name)
  const all = service.references
    .list(collection)
    .filter((one) => service.hiddenPeople.isShownReference(collection, one.internalReference))
  const named = name === undefined ? all : all.filter(({ referenceName }) => referenceName === name)
  const { referenceList } = service.options
  if (referenceList === 'page') return page(service, request, named)
  const shown = leftBy(request.listFault, named)
  // An empty object could be any answer.
  const isMap = referenceList === 'map' && shown.length > 0
  return json(JSON.stringify(isMap ? mapOf(shown) : shown))
}

/** Handles the GET of one custom reference. */
function handleReference(
  { references, hiddenPeople }: Service,
  path: ReferencePath,
): ServiceResponse {
  checkCustom(path.collection, path.name)
  const one = references.get(path)
  if (one && hiddenPeople.isShownReference(path.collection, one.internalReference))
    return json(JSON.stringify(one))
  throw new ServiceError(404, `${path.collection} has no reference ${path.name} ${path.value}`)
}

function mapOf(references: readonly CustomReference[]): Record<string, Record<string, string>> {
  const names: Record<string, Record<string, string>> = {}
  for (const { referenceName, externalReference, internalReference } of references) {
    names[referenceName] ??= {}
    names[referenceName][externalReference] = internalReference
  }
  return names
}

function page(
  { continuations, links, options }: Service,
  { path, parameters, listFault }: ServiceRequest,
  all: readonly CustomReference[],
): ServiceResponse {
  const token = parameters.get('continuationToken')
  const after = token === undefined ? '' : String(continuations.read(path, token, 400))
  const rest = all.filter((reference) => keyOf(reference) > after)
  const taken = rest.slice(0, options.pageSize)
  const last = taken.at(-1)
  const more = last && rest.length > taken.length && listFault?.kind !== 'empty'
  const nextLink = more
    ? links.to(path, [['continuationToken', continuations.give(path, keyOf(last))]])
    : undefined
  return json(
    pageBody(
      leftBy(listFault, taken).map((item) => JSON.stringify(item)),
      { nextLink },
      options.dialect,
    ),
  )
}

function keyOf({ referenceName, externalReference }: CustomReference): string {
  return `${referenceName} ${externalReference}`
}

/** The routes below `/external-references`: a collection, a name of it, and a value under the name. */
export function referenceRoute(
  service: Service,
  request: ServiceRequest,
  [collection, ...parts]: readonly string[],
): Route | undefined {
  const [name, value, ...beyond] = parts
  if (collection === undefined || beyond.length > 0) return undefined
  if (name === undefined || value === undefined) {
    const GET = () => handleReferenceList(service, request, collection, name)
    return { collection: 'external-references', methods: { GET } }
  }
  const path = { collection, name, value }
  return {
    collection: 'external-references',
    methods: {
      GET: () => handleReference(service, path),
      PUT: () => handlePutReference(service, request, path),
      DELETE: () => handleDeleteReference(service, path),
    },
  }
}

/** The parts of the path of one reference. */
export interface ReferencePath {
  readonly collection: string
  readonly name: string
  readonly value: string
}

/** The parts of the service that writing references needs. */
type Parts = Pick<Service, 'references' | 'store' | 'options'>

/**
 * Links a value to the record with this id; to link it again changes nothing. Throws a `ServiceError` if the collection
 * has no references, the name is predefined or empty, the value is empty, the text is not an id of the collection, or
 * the value is linked to another id. The options `secondValue` and `unknownRecord` decide about a second value for the
 * same record and about an id that no record has.
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
  // If case does not matter, the same value in another spelling is not a second value.
  if (before !== undefined && linked === undefined && options.secondValue === 'conflict') {
    throw notValid(`${id} has the ${name} ${before} already: delete that reference first`)
  }
  references.set(collection, name, value, id)
}

/** Removes a reference; false if it is not registered. Throws like `putReference` for the path. */
export function deleteReference(service: Parts, path: ReferencePath): boolean {
  const { references } = service
  checkCustom(path.collection, path.name)
  if (references.find(path, path.value) === undefined) return false
  references.remove(path.collection, path.name, path.value)
  return true
}

/** Refuses a collection without references, and a name that custom references cannot have. */
function checkCustom(collection: string, name?: string): void {
  if (!predefinedOf(collection)) throw notValid(`${collection} takes no external references`)
  if (name?.startsWith('@')) throw notValid(`${name} is no custom reference: it is predefined`)
}

function checkRecord({ store, options }: Parts, collection: string, id: Id): void {
  if (options.unknownRecord === 'accepted' || !hasRecords(collection)) return
  if (store.find(collection, id)) return
  const sentence = `There is no record ${id} in ${collection}`
  throw options.unknownRecord === 'not-valid' ? notValid(sentence) : new ServiceError(404, sentence)
}

/** Handles the PUT of a reference: 200. */
function handlePutReference(
  service: Service,
  request: ServiceRequest,
  path: ReferencePath,
): ServiceResponse {
  checkCustom(path.collection, path.name)
  const internal = readInternalReference(request)
  service.forbidden.check(path.collection, internal)
  putReference(service, path, internal)
  return { status: 200, body: '' }
}

/** Handles the DELETE of a reference: 204. */
function handleDeleteReference(service: Service, path: ReferencePath): ServiceResponse {
  const { collection, name, value } = path
  const id = service.references.find(path, value)
  if (id !== undefined) service.forbidden.check(collection, id)
  if (deleteReference(service, path)) return { status: 204, body: '' }
  throw new ServiceError(404, `${collection} has no reference ${name} ${value}`)
}

function readInternalReference(request: ServiceRequest): string {
  const property = 'internalReference'
  const given = readBody(request)[property]
  if (typeof given === 'string') return given
  throw bodyNotValid([{ property, message: 'is no text' }])
}
