import { readProjectJson } from '../ground/project-files.ts'
import type { SettingsSchema } from '../ground/settings-schema.ts'
import { applyDefaults, notValid } from './config-faults.ts'

/** How many links a mirror may take away under one name. */
export type MaxDeletes = { readonly count: number } | { readonly percent: number }

/** What the writer can be told by the configuration, complete. */
export interface WriteSettings {
  /** Whether a link that is in the way of a wanted one is deleted; else the record is rejected. */
  readonly relink: boolean
  /** What becomes of the fields that a record leaves out. */
  readonly missingFields: 'keep' | 'empty'
  /** Whether complete input also deletes the references that it does not have. */
  readonly mirror: boolean
  /** What a mirror never exceeds. */
  readonly maxDeletes: MaxDeletes
  /** A run with more rejected records than this fails, after all others are written. */
  readonly maxRejected: number
  /** Tells what would be done, and changes nothing. */
  readonly dryRun: boolean
  /** The custom reference that is the key of job categories without an id. */
  readonly jobCategoryReference: string | undefined
  /** The custom reference that is the key of work locations. */
  readonly workLocationReference: string | undefined
  /** The file that rejected records are appended to; only the destination and the target have one. */
  readonly rejectedRecords: string | undefined
}

/** The schema of the settings of the writer; they are in the same configuration as the reader's. */
export function writeSettingsSchema(): SettingsSchema {
  return readProjectJson('#write-settings') as SettingsSchema
}

/**
 * Takes the settings of the writer from a configuration, with their defaults; the reader's are left
 * alone. Throws a config error with one sentence per fault.
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
    maxDeletes: maxDeletesOf(settings['max_deletes'] as string),
    maxRejected: settings['max_rejected'] as number,
    dryRun: settings['dry_run'] as boolean,
    jobCategoryReference: settings['job_category_reference'] as string | undefined,
    workLocationReference: settings['work_location_reference'] as string | undefined,
    rejectedRecords: settings['rejected_records'] as string | undefined,
  }
}

/** Reads `10` or `20%`, which the schema has seen to be one of them. */
function maxDeletesOf(text: string): MaxDeletes {
  const number = Number.parseInt(text, 10)
  return text.endsWith('%') ? { percent: number } : { count: number }
}
