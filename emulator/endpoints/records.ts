import { collections, offers } from '../collections/collections.ts'
import {
  json,
  notValid,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'
import { parseId, parsePairs, type ReferencePair } from '../references/references.ts'
import { exactFieldsOf, type Fields, type Id, type StoredRecord } from '../store/store.ts'
import { code, name, pageBody, type Rules, readBody, text, writableFields } from './bodies.ts'
import type { Service } from './service.ts'

/** The header with a record's version, if the service has ETags. */
function etagOf(
  record: StoredRecord,
  { etags }: ResolvedOptions,
): Readonly<Record<string, string>> {
  if (etags === 'none') return {}
  return { etag: etags === 'weak' ? `W/${tagOf(record)}` : tagOf(record) }
}

/**
 * Refuses a request whose `If-Match` does not name the record's present version. Without ETags the
 * header is ignored.
 */
function checkVersion(
  { headers }: ServiceRequest,
  record: StoredRecord,
  { etags }: ResolvedOptions,
): void {
  const wanted = headers['if-match']
  if (etags === 'none' || wanted === undefined) return
  const tags = wanted.split(',').map((tag) => tag.trim())
  if (tags.includes('*') || tags.includes(tagOf(record))) return
  throw new ServiceError(etags === 'conflict' ? 409 : 412, 'The record has changed since')
}

function tagOf({ version }: StoredRecord): string {
  return `"${version}"`
}

/** A request for one record, or for the history of one person. */
export interface RecordQuery {
  readonly request: ServiceRequest
  readonly collection: string
  /**
   * The last segment: an id, or a reference value when `externalReferences` names the reference.
   */
  readonly reference: string
  readonly within?: (record: StoredRecord) => boolean
}

/** Handles a request for one record, by its id or the first reference of its own collection. */
export function handleGetById(service: Service, query: RecordQuery): ServiceResponse {
  const { request, collection, reference } = query
  const facts = collections[collection]
  if (!facts || !offers(service.options.dialect, 'single', collection)) {
    throw new ServiceError(404, `There are no single records of ${collection}`)
  }
  const pairs = parsePairs(request.parameters.get('externalReferences'), facts.references.single)
  const own = facts.single === 'reference' ? ownPair(pairs, collection) : undefined
  const record = findRecord(service, collection, reference, own)
  if (!record || query.within?.(record) === false) throw missing(collection, reference)
  const answer = json(service.references.decorate(collection, record.text, pairs))
  return { ...answer, headers: { ...answer.headers, ...etagOf(record, service.options) } }
}

/** Handles a request for the history of one person, by id or reference. */
export function handlePersonHistory(service: Service, query: RecordQuery): ServiceResponse {
  const { request, collection, reference } = query
  const pairs = parsePairs(request.parameters.get('externalReferences'), ['people'])
  const person = findRecord(service, 'people', reference, ownPair(pairs, 'people'))
  if (!person) throw missing('people', reference)
  const items = service.store
    .records(collection)
    .about(person.id)
    .map(({ text }) => service.references.decorate(collection, text, pairs))
  return json(pageBody(items, {}, service.options.dialect))
}

function ownPair(pairs: readonly ReferencePair[], collection: string): ReferencePair | undefined {
  return pairs.find((pair) => pair.collection === collection)
}

/**
 * The record with this id, or with this value of the reference if there is a pair. A 400 for a text that is
 * not an id, a 403 for a forbidden record.
 */
function findRecord(
  { store, references, options, forbidden, hiddenPeople }: Service,
  collection: string,
  reference: string,
  pair: ReferencePair | undefined,
): StoredRecord | undefined {
  const isNumber = options.integerReference === 'id' && /^\s*\+?\d+\s*$/.test(reference)
  const behind = (one: ReferencePair) =>
    isNumber ? Number(reference) : references.find(one, reference)
  const id = pair ? behind(pair) : internalId(collection, reference)
  if (id === undefined) return undefined
  forbidden.check(collection, id)
  const record = store.find(collection, id)
  return record && hiddenPeople.isShown(collection, record) ? record : undefined
}

function internalId(collection: string, reference: string): Id {
  if (collections[collection]?.hasGuids) return reference
  const id = parseId(collection, reference)
  if (id === undefined) throw notValid(`The id ${reference} is no integer`)
  return id
}

/** A 404 for a record that does not exist. */
function missing(collection: string, reference: string): ServiceError {
  return new ServiceError(404, `There is no record ${reference} in ${collection}`)
}

const jobCategories = 'job-categories'
const jobCategoryRules: Rules = { name, externalCode: code }

/**
 * Handles `PUT /job-categories/{reference}`: 200 without a body. The reference is an id, or the value
 * of the first reference that the query names.
 */
export function putJobCategory(
  service: Service,
  request: ServiceRequest,
  reference: string,
): ServiceResponse {
  const { options } = service
  const [pair] = parsePairs(request.parameters.get('externalReferences'), [jobCategories])
  const record = findRecord(service, jobCategories, reference, pair)
  if (!record) throw missing(jobCategories, reference)
  checkVersion(request, record, options)
  const fields = writableFields(readBody(request), jobCategoryRules, options)
  replace(service, record, fields)
  return { status: 200, body: '' }
}

function replace({ store, options }: Service, record: StoredRecord, fields: Fields): void {
  const { id, changeVersion: _version, ...before } = exactFieldsOf(record.text)
  const after = options.leftOut === 'kept' ? merged(before, fields) : fields
  store.put(jobCategories, record.id, after)
}

function merged(before: Fields, fields: Fields): Fields {
  const name = { ...(before['name'] as Fields | undefined), ...(fields['name'] as Fields) }
  return { ...before, ...fields, name }
}

const workLocationRules: Rules = { name, description: text }

/**
 * Handles `POST /work-locations`: 201 with the address of the new record. No property has to be unique, so sending the
 * same body twice creates two records.
 */
export function createWorkLocation(
  { store, links, options }: Service,
  request: ServiceRequest,
): ServiceResponse {
  if (request.parameters.has('externalReferences')) {
    throw notValid('externalReferences is not supported here')
  }
  const fields = writableFields(readBody(request), workLocationRules, options)
  const { id } = store.put('work-locations', store.newId('work-locations'), fields)
  return { status: 201, headers: { location: links.location(`/work-locations/${id}`) }, body: '' }
}
