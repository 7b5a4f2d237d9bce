import type { Config } from '../config/config.ts'
import { packageDescription, packageVersion, readProjectJson } from '../ground/project-files.ts'
import { LINK_TOKENS } from '../http/links.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { Connector } from '../protocol/connector.ts'

/**
 * The connector, of which both programs are made: what it says of itself, and behind one dynamic import
 * everything that reads. `retryPolicy` is for tests; that of `retry_minutes` if left out.
 */
export function createConnector(retryPolicy?: RetryPolicy): Connector<Config> {
  return {
    name: 'protime',
    version: packageVersion(),
    description: packageDescription(),
    spec: readProjectJson('#spec') as Connector<Config>['spec'],
    secretParameters: LINK_TOKENS,
    async load() {
      const { createSource } = await import('./source.ts')
      return createSource(retryPolicy)
    },
  }
}
