import { packageVersion } from '../ground/project-files.ts'
import { LINK_TOKENS } from '../http/links.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { DestinationConnector } from '../protocol/destination.ts'
import type { DestinationConfig } from './create-destination.ts'
import { destinationSpec } from './destination-spec.ts'

/**
 * Creates the connector for both programs, Airbyte's destination and Singer's target. The code that writes is imported
 * only when it is needed. `retryPolicy` is for tests; by default it follows the setting `retry_minutes`.
 */
export function createDestinationConnector(
  retryPolicy?: RetryPolicy,
): DestinationConnector<DestinationConfig> {
  return {
    name: 'protime',
    version: packageVersion(),
    description:
      'Writes external references, job categories and work locations to a workforce time-and-attendance tenant (myProtime Connector API)',
    spec: destinationSpec(),
    secretParameters: LINK_TOKENS,
    async load() {
      const { createDestination } = await import('./create-destination.ts')
      return createDestination(retryPolicy)
    },
  }
}
