import { isDeepStrictEqual } from 'node:util'
import { checkVersion } from '../endpoints/etags.ts'
import { findRecord, missing } from '../endpoints/get-by-id.ts'
import type { Service } from '../endpoints/service.ts'
import type { ServiceRequest, ServiceResponse } from '../http/http-types.ts'
import { parsePairs, type ReferencePair } from '../references/reference-pairs.ts'
import { type Fields, fieldsOf, type StoredRecord } from '../store/store.ts'
import { readBody } from './read-body.ts'
import { code, name, type Rules, writableFields } from './writable-fields.ts'

const collection = 'job-categories'
const rules: Rules = { name, externalCode: code }

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
  const [pair] = parsePairs(request.parameters.get('externalReferences'), [collection])
  const record = findRecord(service, collection, reference, pair)
  if (record) checkVersion(request, record, options)
  else if (!options.upsert || !pair) throw missing(collection, reference)
  const fields = writableFields(readBody(request, options), rules, options)
  if (!record) return create(service, fields, pair as ReferencePair, reference)
  replace(service, record, fields)
  return { status: 200, body: '' }
}

function replace({ store, options }: Service, record: StoredRecord, fields: Fields): void {
  const { id, changeVersion: _version, ...before } = fieldsOf(record)
  const after = options.leftOut === 'kept' ? merged(before, fields) : fields
  if (options.equalPut === 'nothing' && isDeepStrictEqual(before, after)) return
  store.put(collection, record.id, after)
}

function merged(before: Fields, fields: Fields): Fields {
  const name = { ...(before['name'] as Fields | undefined), ...(fields['name'] as Fields) }
  return { ...before, ...fields, name }
}

function create(
  { store, references, links }: Service,
  fields: Fields,
  pair: ReferencePair,
  value: string,
): ServiceResponse {
  const { id } = store.put(collection, store.newId(collection), fields)
  references.set(collection, pair.name, value, id)
  return { status: 201, headers: { location: links.location(`/${collection}/${id}`) }, body: '' }
}
