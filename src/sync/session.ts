import type { Config } from '../config.ts'
import { createClient } from '../http/client.ts'
import { createEndpoints } from '../http/endpoints.ts'
import { loggedTransport } from '../http/logged-transport.ts'
import { createRateLimiter } from '../http/rate-limiter.ts'
import { type RetryPolicy, retryPolicyOf } from '../http/retry-policy.ts'
import { createServerClock } from '../http/server-clock.ts'
import { createTransport } from '../http/transport.ts'
import { packageVersion } from '../project-files.ts'
import type { Log } from '../protocol/connector.ts'
import type { Mask } from '../protocol/mask.ts'

export interface SessionSettings {
  readonly config: Config
  readonly mask: Mask
  readonly signal: AbortSignal
  readonly log: Log
  /** That of `retry_minutes` if left out. */
  readonly retryPolicy?: RetryPolicy
}

/** The connection to the service that one command works over. */
export type Session = ReturnType<typeof createSession>

/** `collections` are those whose scopes the token is to have; undefined asks for all there are. */
export function createSession(
  { config, mask, signal, log, retryPolicy = retryPolicyOf(config.retryMinutes) }: SessionSettings,
  collections: readonly string[] | undefined,
) {
  const endpoints = createEndpoints({ ...config, version: packageVersion() })
  const clock = createServerClock()
  const transport = loggedTransport(createTransport(config.requestTimeoutSeconds), log.debug)
  const limiter = createRateLimiter(config.requestsPerMinute, retryPolicy.time)
  const { clientId, clientSecret } = config
  mask.add(clientSecret)
  const client = createClient({
    endpoints,
    clientId,
    clientSecret,
    collections,
    transport,
    limiter,
    clock,
    mask,
    signal,
    retryPolicy,
  })
  return { endpoints, clock, client, retryPolicy, close: () => transport.close() }
}
