import { packageVersion } from '../ground/project-files.ts'
import { LINK_TOKENS } from '../http/links.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { DestinationConnector } from '../protocol/destination.ts'
import type { DestinationConfig } from './create-destination.ts'
import { destinationSpec } from './destination-spec.ts'

/**
 * The connector that writes, of which both programs are made: what it says of itself, and behind one dynamic
 * import everything that writes. `retryPolicy` is for tests; that of `retry_minutes` if left out.
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
