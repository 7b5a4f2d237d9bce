import { scopesOf } from '../collections/operations.ts'
import type { ServiceRequest } from '../http/http-types.ts'
import { ServiceError } from '../http/service-error.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Grant, Tokens } from './tokens.ts'

/** The grant that belongs to the token of a request; 401 when there is none. */
export function checkToken(tokens: Tokens, request: ServiceRequest): Grant {
  const grant = tokens.check(request.headers.authorization)
  if (!grant) throw new ServiceError(401, 'The access token is missing, expired or not valid')
  return grant
}

/**
 * Checks that a grant covers the collection that is read, and returns the client. A missing scope is
 * a 401 in the specification and a 403 in the documentation.
 */
export function checkScope(options: ResolvedOptions, grant: Grant, collection: string): string {
  const { apiName, dialect } = options
  const names = [...scopesOf(dialect, collection), 'all']
  if (names.some((name) => grant.scopes.has(`connector-${apiName}-${name}.read`))) {
    return grant.client
  }
  const status = dialect === 'specification' ? 401 : 403
  throw new ServiceError(status, `The access token has no scope for ${collection}`)
}
