import { json, type ServiceRequest, type ServiceResponse } from '../http/http-types.ts'
import { notValid, ServiceError } from '../http/service-error.ts'
import { predefinedOf } from '../references/reference-pairs.ts'
import type { CustomReference } from '../references/references.ts'
import { pageBody } from './page.ts'
import type { Service } from './service.ts'

/**
 * Handles the three paths that read custom references. Their bodies are not documented: a page in the
 * dialect of the documentation, a bare array in the other.
 */
export function handleReferences(
  service: Service,
  request: ServiceRequest,
  [collection = '', name, value]: readonly string[],
): ServiceResponse {
  if (!predefinedOf(collection)) throw notValid(`${collection} takes no external references`)
  if (name?.startsWith('@')) throw notValid('Predefined references are not managed here')
  const all = service.references.list(collection)
  const named = name === undefined ? all : all.filter(({ referenceName }) => referenceName === name)
  if (value === undefined) return page(service, request, named)
  const one = named.find(({ externalReference }) => externalReference === value)
  if (!one) throw new ServiceError(404, `${collection} has no reference ${name} ${value}`)
  return json(JSON.stringify(one))
}

function page(
  { continuations, links, options }: Service,
  { path, parameters }: ServiceRequest,
  all: readonly CustomReference[],
): ServiceResponse {
  if (options.dialect === 'specification') return json(JSON.stringify(all))
  const token = parameters.get('continuationToken')
  const after = token === undefined ? '' : continuations.read(path, token, 400)
  const rest = all.filter((reference) => keyOf(reference) > after)
  const taken = rest.slice(0, options.pageSize)
  const last = taken.at(-1)
  const more = last && rest.length > taken.length
  const nextLink = more
    ? links.to(path, [['continuationToken', continuations.give(path, keyOf(last))]])
    : undefined
  return json(
    pageBody(
      taken.map((item) => JSON.stringify(item)),
      { nextLink },
      options.dialect,
    ),
  )
}

function keyOf({ referenceName, externalReference }: CustomReference): string {
  return `${referenceName} ${externalReference}`
}
