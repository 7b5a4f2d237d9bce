import type { ServiceRequest } from '../http/http-types.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Fields } from '../store/store.ts'

/** What is wrong with one property of a body; the empty text is the body as a whole. */
export interface BodyError {
  readonly property: string
  readonly message: string
}

/** The JSON object that a request carries; anything else is a 400. */
export function readBody({ body }: ServiceRequest, options: ResolvedOptions): Fields {
  const value = parse(body)
  if (isObject(value)) return value
  throw bodyNotValid([{ property: '', message: 'The body is no JSON object' }], options)
}

/** A 400 in the form that is documented for bodies; the fields of its items are not. */
export function bodyNotValid(errors: readonly BodyError[], options: ResolvedOptions): ServiceError {
  const texts = errors.map(({ property, message }) => `${property}: ${message}`)
  const items = options.validationItems === 'texts' ? texts : errors
  const body = JSON.stringify({ validationErrors: items })
  return new ServiceError(400, 'Request not valid', { reasons: texts, body })
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
