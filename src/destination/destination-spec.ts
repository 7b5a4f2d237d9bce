import { writeSettingsSchema } from '../config/config-faults.ts'
import { readProjectJson } from '../ground/project-files.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'

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

/** The sync modes of the destination; `overwrite` needs `mirror`. */
export const SYNC_MODES = ['append', 'append_dedup', 'update', 'overwrite'] as const

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
