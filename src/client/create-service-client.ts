import type { Config } from '../config/config.ts'
import { scopeName } from '../http/endpoints.ts'
import { createSession, type SessionSettings } from '../http/session.ts'
import { hasScope } from '../http/token.ts'
import { createJobCategories } from './job-categories.ts'
import { createReferences } from './references.ts'
import { createRequests } from './requests.ts'
import type { ServiceClient } from './service-client.ts'
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
  const requests = createRequests(session)
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
    close: () => session.close(),
  }
}
