import { writeSettingsSchema } from '../config/write-settings.ts'
import { readProjectJson } from '../ground/project-files.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'

/** What of the reader's settings is about the service, and not about what is read. */
const CONNECTION = [
  'tenant',
  'environment',
  'client_id',
  'client_secret',
  'requests_per_minute',
  'request_timeout_seconds',
  'retry_minutes',
]

/** The ways in which something can be written; `overwrite` only as a mirror. */
export const SYNC_MODES = ['append', 'append_dedup', 'update', 'overwrite'] as const

/** A specification of the Airbyte protocol. */
interface Specification {
  readonly documentationUrl: string
  readonly changelogUrl: string
  readonly connectionSpecification: SettingsSchema
  readonly [key: string]: unknown
}

/** The specification of the destination: the connection as spec.json has it, and the writer's own settings. */
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
