import { scopesOf } from './dialect.ts'
import type { ServiceRequest } from './exchange.ts'
import type { Service } from './service.ts'
import { ServiceError } from './service-error.ts'

/**
 * Holds a request to the API against its token; the answer is the client. 401 or 403 by dialect
 * (api.md 13, row 10).
 */
export function checkAccess(service: Service, request: ServiceRequest, collection: string): string {
  const grant = service.tokens.check(request.headers.authorization)
  if (!grant) throw new ServiceError(401, 'The access token is missing, expired or not valid')
  const { apiName, dialect } = service.options
  const names = [...scopesOf(dialect, collection), 'all']
  if (names.some((name) => grant.scopes.has(`connector-${apiName}-${name}.read`))) {
    return grant.client
  }
  const status = dialect === 'specification' ? 401 : 403
  throw new ServiceError(status, `The access token has no scope for ${collection}`)
}
