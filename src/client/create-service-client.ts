import { type Config, parseConfig } from '../config/config.ts'
import { createMask } from '../ground/mask.ts'
import { LINK_TOKENS, scopeName } from '../http/endpoints.ts'
import { createSession, type SessionSettings } from '../http/session.ts'
import { hasScope } from '../http/token.ts'
import { createJobCategories } from './job-categories.ts'
import { createReferences } from './references.ts'
import { createRequests } from './requests.ts'
import type { ServiceClient, WebhookCollection } from './service-client.ts'
import { createWebhooks } from './webhooks.ts'
import { createWorkLocations } from './work-locations.ts'

/** What a client of the service needs. */
export interface ClientTools extends Omit<SessionSettings, 'config' | 'log'> {
  /** The only scopes of the token: `external-references.write`, `job-categories.read`. */
  readonly scopes: readonly string[]
  /** Called for every request, at the debug level. */
  readonly log?: SessionSettings['log']
}

/** A client of the service with its own connections; it sends nothing before the first call. */
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

/** The resources that the client reads and writes. */
type Written = 'external-references' | 'job-categories' | 'work-locations' | 'webhooks'

/** The scopes that a client can have. A webhook needs the `.read` scope of its collection, too. */
export type Scope = `${Written}.${'read' | 'write'}` | `${WebhookCollection}.read`

/** Options of `connect` beside the configuration. */
export interface ConnectOptions {
  /** Scopes such as `external-references.write` and `job-categories.read`. */
  readonly scopes: readonly Scope[]
  /** Ends every request, with its reason. */
  readonly signal?: AbortSignal
  /** Called each time a request has to wait, with the reason. */
  readonly onWait?: (reason: string) => void
}

/**
 * A client of the service. `config` is any JSON that the connector accepts as its configuration; a
 * ConnectorError says what is wrong with it. Close the client at the end, or use `await using`: otherwise the
 * process stays alive for half a minute.
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
