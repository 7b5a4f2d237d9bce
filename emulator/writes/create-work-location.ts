import type { Service } from '../endpoints/service.ts'
import type { ServiceRequest, ServiceResponse } from '../http/http-types.ts'
import { notValid } from '../http/service-error.ts'
import { bodyNotValid, readBody } from './read-body.ts'
import { name, type Rules, text, writableFields } from './writable-fields.ts'

const rules: Rules = { name, description: text }

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
  const body = readBody(request, options)
  if ('externalReferenceIdentifier' in body && options.identifierInBody === 'refused') {
    const property = 'externalReferenceIdentifier'
    throw bodyNotValid([{ property, message: 'is not supported here' }], options)
  }
  const fields = writableFields(body, rules, options)
  const { id } = store.put('work-locations', store.newId('work-locations'), fields)
  return { status: 201, headers: { location: links.location(`/work-locations/${id}`) }, body: '' }
}
