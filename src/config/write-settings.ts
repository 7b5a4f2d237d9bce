import { type Limit, limitOf } from '../ground/limit.ts'
import { applyDefaults, notValid, writeSettingsSchema } from './config-faults.ts'

/** The sync modes in which a destination writes; `overwrite` needs `mirror`. */
export const SYNC_MODES = ['append', 'append_dedup', 'update', 'overwrite'] as const

/** The settings of the writer, with all defaults filled in. */
export interface WriteSettings {
  /** Whether a link is deleted if it is in the way of a wanted one; otherwise the record is rejected. */
  readonly relink: boolean
  /** What happens to the fields that a record leaves out. */
  readonly missingFields: 'keep' | 'empty'
  /** Whether complete input also deletes the references that it does not contain. */
  readonly mirror: boolean
  /** The limit for the deletions of a mirror. */
  readonly maxDeletes: Limit
  /** The run fails if it rejects more records than this; all others are written nevertheless. */
  readonly maxRejected: number
  /** Reports what would be done, and changes nothing. */
  readonly dryRun: boolean
  /** The custom reference that is the key of job categories without an id. */
  readonly jobCategoryReference: string | undefined
  /** The custom reference that is the key of work locations. */
  readonly workLocationReference: string | undefined
  /** The file to which rejected records are appended; only the destination and the target have one. */
  readonly rejectedRecords: string | undefined
}

/**
 * Parses the writer's settings in a configuration, with their defaults, and ignores those of the reader. Throws a
 * config error with one sentence per fault.
 */
export function parseWriteSettings(input: unknown): WriteSettings {
  const schema = writeSettingsSchema()
  const given = Object.entries((input ?? {}) as Record<string, unknown>)
  const known = given.filter(([name]) => Object.hasOwn(schema.properties ?? {}, name))
  const settings = structuredClone(Object.fromEntries(known)) as Record<string, unknown>
  const faults = applyDefaults(settings, 'write')
  if (faults.length > 0) throw notValid(faults.join(' '))
  return {
    relink: settings['relink'] as boolean,
    missingFields: settings['missing_fields'] as WriteSettings['missingFields'],
    mirror: settings['mirror'] as boolean,
    maxDeletes: limitOf(settings['max_deletes'] as string),
    maxRejected: settings['max_rejected'] as number,
    dryRun: settings['dry_run'] as boolean,
    jobCategoryReference: settings['job_category_reference'] as string | undefined,
    workLocationReference: settings['work_location_reference'] as string | undefined,
    rejectedRecords: settings['rejected_records'] as string | undefined,
  }
}
