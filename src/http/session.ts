import type { Config } from '../config/config.ts'
import type { Mask } from '../ground/mask.ts'
import { othersConfigure } from '../ground/others-configure.ts'
import { packageVersion } from '../ground/project-files.ts'
import { type ClientSettings, createClient } from './client.ts'
import { createServerClock } from './clock.ts'
import { createEndpoints } from './endpoints.ts'
import { createRateLimiter } from './rate-limiter.ts'
import { type RetryPolicy, retryPolicyOf } from './retry.ts'
import { createTransport, loggedTransport } from './transport.ts'

/** What a session with a tenant needs. */
export interface SessionSettings extends Pick<ClientSettings, 'onRetry'> {
  readonly config: Config
  readonly mask: Mask
  readonly signal: AbortSignal
  readonly log: { debug(message: string): void }
  /** By default that of the setting `retry_minutes`. */
  readonly retryPolicy?: RetryPolicy
}

/** The connection to the service that one command uses. */
export type Session = ReturnType<typeof createSession>

/** Creates a session. `scopes` are those that the token should have: see `TokenSettings`; undefined requests all. */
export function createSession(settings: SessionSettings, scopes: readonly string[] | undefined) {
  const { config, mask, signal, log, onRetry } = settings
  const { retryPolicy = retryPolicyOf(config.retryMinutes) } = settings
  const endpoints = createEndpoints({ ...config, version: packageVersion() })
  const clock = createServerClock()
  const hosts = { isPublicOnly: othersConfigure() }
  const transport = loggedTransport(createTransport(config.requestTimeoutSeconds, hosts), log.debug)
  const limiter = createRateLimiter(config.requestsPerMinute, retryPolicy.time)
  const { clientId, clientSecret } = config
  mask.add(clientSecret)
  const client = createClient({
    endpoints,
    clientId,
    clientSecret,
    scopes,
    transport,
    limiter,
    clock,
    mask,
    hidesWords: config.hidesServiceWords,
    signal,
    retryPolicy,
    ...(onRetry !== undefined && { onRetry }),
  })
  return { endpoints, clock, client, retryPolicy, close: () => transport.close() }
}
