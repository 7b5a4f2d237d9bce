import type { Config } from '../config/config.ts'
import { packageDescription, packageVersion, readProjectJson } from '../ground/project-files.ts'
import { LINK_TOKENS } from '../http/endpoints.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { Connector } from '../protocol/connector.ts'

/**
 * Creates the connector for both programs, Airbyte's source and Singer's tap. The code that reads is imported only when
 * it is needed. `retryPolicy` is for tests; by default it follows the setting `retry_minutes`.
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
