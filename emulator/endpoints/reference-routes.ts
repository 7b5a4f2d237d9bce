import type { ServiceRequest } from '../http/http-types.ts'
import { handleDeleteReference, handlePutReference } from '../writes/handle-reference-writes.ts'
import { handleReference, handleReferenceList } from './handle-references.ts'
import type { Route } from './route.ts'
import type { Service } from './service.ts'

/** The routes below `/external-references`: a collection, a name of it, and a value under the name. */
export function referenceRoute(
  service: Service,
  request: ServiceRequest,
  [collection, name, value, ...beyond]: readonly string[],
): Route | undefined {
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
