import { parseConfig } from '../config/config.ts'
import { LINK_TOKENS } from '../http/links.ts'
import { createMask } from '../protocol/mask.ts'
import { createServiceClient } from './create-service-client.ts'
import type { ServiceClient } from './service-client.ts'

/** What `connect` may be told beside the configuration. */
export interface ConnectOptions {
  /** What the client may do, such as `external-references.write` and `job-categories.read`. */
  readonly scopes: readonly string[]
  /** Ends every request, with its reason. */
  readonly signal?: AbortSignal
  /** Told each time that a request has to wait, and why. */
  readonly onWait?: (reason: string) => void
}

/**
 * A client of the service, with any JSON that the connector takes as its configuration. Throws a
 * ConnectorError that says what is wrong with it. Close it at the end, or the process
 * stays alive for half a minute.
 */
export function connect(config: unknown, options: ConnectOptions): ServiceClient {
  const { scopes, signal = new AbortController().signal, onWait } = options
  return createServiceClient(parseConfig(config), {
    scopes,
    signal,
    mask: createMask(LINK_TOKENS),
    ...(onWait !== undefined && { onTrouble: ({ reason }) => onWait(reason) }),
  })
}
