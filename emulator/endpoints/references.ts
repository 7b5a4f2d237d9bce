import { json, ServiceError, type ServiceRequest, type ServiceResponse } from '../http/messages.ts'
import type { CustomReference } from '../references/references.ts'
import { asWritten } from '../writes/body.ts'
import {
  checkCustom,
  handleDeleteReference,
  handlePutReference,
  type ReferencePath,
} from '../writes/references.ts'
import { leftBy, pageBody } from './page.ts'
import type { Route } from './route.ts'
import type { Service } from './service.ts'

/** Handles the lists of custom references: those of a collection, or of one name of it. */
function handleReferenceList(
  service: Service,
  request: ServiceRequest,
  collection: string,
  name?: string,
): ServiceResponse {
  checkCustom(collection, name)
  const all = service.references.list(collection)
  const named = name === undefined ? all : all.filter(({ referenceName }) => referenceName === name)
  const { referenceList } = service.options
  if (referenceList === 'page') return page(service, request, named)
  const shown = leftBy(request.listFault, named)
  return json(JSON.stringify(referenceList === 'map' ? mapOf(shown) : shown))
}

/** Handles the GET of one custom reference. */
function handleReference({ references }: Service, path: ReferencePath): ServiceResponse {
  checkCustom(path.collection, path.name)
  const one = references.get(path)
  if (one) return json(JSON.stringify(one))
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
  const [name, value, ...beyond] = parts.map((part) => asWritten(part, service.options))
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
