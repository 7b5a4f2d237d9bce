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

/** What a scope allows: every GET, or every POST, PUT and DELETE. */
export type Access = 'read' | 'write'

/**
 * Checks that a grant covers the collection for one of the kinds of access, and returns the client. A
 * missing scope is a 401 in the specification and a 403 in the documentation.
 */
export function checkScope(
  options: ResolvedOptions,
  grant: Grant,
  collection: string,
  accesses: readonly Access[],
): string {
  const { apiName, dialect } = options
  const names = [...scopesOf(dialect, collection), 'all']
  const scopes = names.flatMap((name) =>
    accesses.map((access) => `connector-${apiName}-${name}.${access}`),
  )
  if (scopes.some((scope) => grant.scopes.has(scope))) return grant.client
  const status = dialect === 'specification' ? 401 : 403
  throw new ServiceError(status, `The access token has no scope for ${collection}`)
}
