import { type Config, parseConfig } from '../config/config.ts'
import { createMask } from '../ground/mask.ts'
import { scopeName } from '../http/endpoints.ts'
import { LINK_TOKENS } from '../http/links.ts'
import { createSession, type SessionSettings } from '../http/session.ts'
import { hasScope } from '../http/token.ts'
import { createJobCategories } from './job-categories.ts'
import { createReferences } from './references.ts'
import { createRequests } from './requests.ts'
import type { ServiceClient } from './service-client.ts'
import type { WebhookCollection } from './webhook-collections.ts'
import { createWebhooks } from './webhooks.ts'
import { createWorkLocations } from './work-locations.ts'

/** What a client of the service works with. */
export interface ClientTools extends Omit<SessionSettings, 'config' | 'log'> {
  /** What the token is asked for, and nothing else: `external-references.write`, `job-categories.read`. */
  readonly scopes: readonly string[]
  /** Told of every request, at the level for developers. */
  readonly log?: SessionSettings['log']
}

/** A client of the service over connections of its own; nothing is sent before it is asked for something. */
export function createServiceClient(
  config: Config,
  { scopes, log = { debug: () => {} }, ...tools }: ClientTools,
): ServiceClient {
  const session = createSession({ config, log, ...tools }, scopes)
  const { client, endpoints } = session
  const requests = createRequests(session, tools.signal)
  const close = () => session.close()
  return {
    references: createReferences(requests),
    jobCategories: createJobCategories(requests),
    workLocations: createWorkLocations(requests),
    webhooks: createWebhooks(requests, tools.mask),
    async missingScopes(names) {
      const token = await client.token()
      const missing = names.filter((name) => !hasScope(token, endpoints, [name]))
      return missing.map((name) => scopeName(endpoints, name))
    },
    now: () => session.clock.now(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The objects that the client reads and writes. */
type Written = 'external-references' | 'job-categories' | 'work-locations' | 'webhooks'

/** What a client can be allowed. A webhook needs the `.read` scope of its collection, too. */
export type Scope = `${Written}.${'read' | 'write'}` | `${WebhookCollection}.read`

/** What `connect` may be told beside the configuration. */
export interface ConnectOptions {
  /** What the client may do, such as `external-references.write` and `job-categories.read`. */
  readonly scopes: readonly Scope[]
  /** Ends every request, with its reason. */
  readonly signal?: AbortSignal
  /** Told each time that a request has to wait, and why. */
  readonly onWait?: (reason: string) => void
}

/**
 * A client of the service, with any JSON that the connector takes as its configuration. Throws a
 * ConnectorError that says what is wrong with it. Close it at the end, or hold it by
 * `await using`: else the process stays alive for half a minute.
 */
export function connect(config: unknown, options: ConnectOptions): ServiceClient {
  const { scopes, signal = new AbortController().signal, onWait } = options
  return createServiceClient(parseConfig(config), {
    scopes,
    signal,
    mask: createMask(LINK_TOKENS),
    ...(onWait !== undefined && { onRetry: ({ reason }) => onWait(reason) }),
  })
}
