import type { Service } from '../endpoints/service.ts'
import { json, type ServiceRequest, type ServiceResponse } from '../http/http-types.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ResolvedOptions } from '../options.ts'
import { bodyNotValid, readBody } from './read-body.ts'
import {
  checkCustom,
  deleteReference,
  putReference,
  type ReferencePath,
} from './reference-writes.ts'

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
