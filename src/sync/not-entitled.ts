import type { Endpoints } from '../http/endpoints.ts'
import { scopeName } from '../http/endpoints.ts'
import { ConnectorError } from '../protocol/errors.ts'

/** The failure of a stream whose scope the token does not cover. */
export function notEntitled(scope: string, endpoints: Endpoints): ConnectorError {
  return new ConnectorError(
    'config',
    `The client is not entitled to the scope ${scopeName(endpoints, scope)}. Ask the operator of the service for it, or deselect the stream.`,
  )
}
