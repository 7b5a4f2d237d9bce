import { checkVersion, findRecord, missing } from '../endpoints/get-by-id.ts'
import type { Service } from '../endpoints/service.ts'
import { notValid, type ServiceRequest, type ServiceResponse } from '../http/messages.ts'
import { parsePairs } from '../references/references.ts'
import { exactFieldsOf } from '../store/digits.ts'
import type { Fields, StoredRecord } from '../store/store.ts'
import { code, name, type Rules, readBody, text, writableFields } from './body.ts'

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
 * Handles `POST /work-locations`: 201 with the address of the new record. Nothing of a work location
 * is unique, so the same body twice makes two.
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
