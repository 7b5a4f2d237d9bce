import { type Access, checkScope, type Grant } from '../auth/tokens.ts'
import { notAllowed, type ServiceRequest, type ServiceResponse } from '../http/messages.ts'
import type { ResolvedOptions } from '../options.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** Handles a request of the client with this id. */
type Handle = (client: string) => ServiceResponse

/** What a path can do. */
export interface Route {
  /** The collection whose scope is needed: `.read` for a GET, `.write` for any other method. */
  readonly collection: string
  readonly methods: Readonly<Partial<Record<Method, Handle>>>
}

/**
 * Handles a request by the method of its route. A client without a scope of the path does not learn whether
 * the method exists: 401 and 403 come before 405. A HEAD is a GET without a body in the answer.
 */
export function handleByMethod(
  { collection, methods }: Route,
  { method }: ServiceRequest,
  grant: Grant,
  options: ResolvedOptions,
): ServiceResponse {
  const known = Object.keys(methods)
  const wanted = method === 'HEAD' ? 'GET' : method
  const handle = (methods as Readonly<Record<string, Handle>>)[wanted]
  const client = checkScope(options, grant, collection, (handle ? [wanted] : known).map(accessOf))
  if (handle) return handle(client)
  const allowed = known.flatMap((one) => (one === 'GET' ? ['GET', 'HEAD'] : [one]))
  throw notAllowed(method, allowed)
}

function accessOf(method: string): Access {
  return method === 'GET' ? 'read' : 'write'
}
