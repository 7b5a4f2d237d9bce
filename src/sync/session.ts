import { createClient } from '../api/client.ts'
import { createServiceClock } from '../api/clock.ts'
import { createLimiter } from '../api/limiter.ts'
import { loggedTransport } from '../api/logged-transport.ts'
import { type Patience, patienceOf } from '../api/retry.ts'
import { createService } from '../api/service.ts'
import { createTransport } from '../api/transport.ts'
import type { Config } from '../config.ts'
import type { Mask } from '../mask.ts'
import { packageVersion } from '../project-files.ts'
import type { Log } from '../protocol/log.ts'

export interface SessionSettings {
  readonly config: Config
  readonly mask: Mask
  readonly signal: AbortSignal
  readonly log: Log
  /** That of `retry_minutes` if left out. */
  readonly patience?: Patience
}

/** The connection to the service that one command works over. */
export type Session = ReturnType<typeof createSession>

/** `collections` are those whose scopes the token is to have; undefined asks for all there are. */
export function createSession(
  { config, mask, signal, log, patience = patienceOf(config.retryMinutes) }: SessionSettings,
  collections: readonly string[] | undefined,
) {
  const service = createService({ ...config, version: packageVersion() })
  const clock = createServiceClock()
  const transport = loggedTransport(createTransport(config.requestTimeoutSeconds), log.debug)
  const limiter = createLimiter(config.requestsPerMinute, patience.time)
  const { clientId, clientSecret } = config
  mask.add(clientSecret)
  const client = createClient({
    service,
    clientId,
    clientSecret,
    collections,
    transport,
    limiter,
    clock,
    mask,
    signal,
    patience,
  })
  return { service, clock, client, patience, close: () => transport.close() }
}
