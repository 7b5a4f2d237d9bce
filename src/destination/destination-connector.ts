import { writeSettingsSchema } from '../config/config-faults.ts'
import { SYNC_MODES } from '../config/write-settings.ts'
import { packageVersion, readProjectJson } from '../ground/project-files.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import { LINK_TOKENS } from '../http/endpoints.ts'
import type { RetryPolicy } from '../http/retry.ts'
import type { DestinationConnector } from '../protocol/destination.ts'
import type { DestinationConfig } from './create-destination.ts'

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

/** The settings of spec.json that the destination has, too: those of the connection. */
const CONNECTION = [
  'tenant',
  'environment',
  'client_id',
  'client_secret',
  'requests_per_minute',
  'request_timeout_seconds',
  'retry_minutes',
]

/** A specification of the Airbyte protocol. */
interface Specification {
  readonly documentationUrl: string
  readonly changelogUrl: string
  readonly connectionSpecification: SettingsSchema
  readonly [key: string]: unknown
}

/** Returns the destination's specification: the connection settings of spec.json and the settings of the writer. */
export function destinationSpec(): Specification {
  const spec = readProjectJson('#spec') as Specification
  const { connectionSpecification: reading, ...facts } = spec
  const connection = Object.entries(reading.properties ?? {}).filter(([name]) =>
    CONNECTION.includes(name),
  )
  return {
    ...facts,
    changelogUrl: spec.changelogUrl,
    documentationUrl: spec.documentationUrl.replace(/[^/]+$/, 'writing.md'),
    supported_destination_sync_modes: SYNC_MODES,
    connectionSpecification: {
      ...reading,
      properties: { ...Object.fromEntries(connection), ...writeSettingsSchema().properties },
    },
  }
}
