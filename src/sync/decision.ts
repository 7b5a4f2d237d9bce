import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { createEndpoints, type Endpoints } from '../http/endpoints.ts'
import { packageVersion } from '../project-files.ts'
import type { Stream } from '../streams/collection.ts'
import { readBookmark, type StoredReading, startingOver } from './bookmark.ts'
import { type Day, earliestDeltaStart } from './days.ts'
import type { Job } from './job.ts'
import type { Position } from './position.ts'
import type { StartOver } from './reading.ts'
import { referencePairs } from './slices.ts'

/** What a decision is made with. */
export interface DecisionSettings {
  readonly config: Config
  readonly endpoints: Endpoints
  /** The service's time. */
  readonly now: Date
}

/** What the records of a stream depend on, and the first day of them. */
export interface Made {
  readonly service: string
  /** See `StoredReading.settings`. */
  readonly settings: string
  /** The first day; null for what has no dates. */
  readonly start: Day | null
}

/** From where a stream is read. */
export type Decision =
  | {
      readonly do: 'begin'
      readonly why: string
      readonly warning?: string
      readonly replacesOlder: boolean
      readonly made: Made
    }
  | {
      readonly do: 'restore'
      readonly stored: StoredReading
      /** Where the reading that was stored is of no use: what was read is, for the deletes. */
      readonly startOver?: StartOver
      readonly made: Made
    }

/** How long a delta link lives: since its last request, or since it was sent (docs/service.md, "Expiry"). */
const DELTA_LIFE_HOURS = 72

/** What a reading without the ids of the one before it means. */
export const WITHOUT_IDS =
  'the stream is read from the beginning. Rows that were deleted meanwhile may remain; _generation tells them apart.'

/** Whether a stored bookmark fits, so that a stream continues from it, and why it does not. Asks nobody. */
export function decide(job: Job, settings: DecisionSettings): Decision {
  const { stream, mode } = job
  const made = madeUnder(job, settings)
  const begin = (why: string, warning?: string, replacesOlder = true): Decision => ({
    do: 'begin',
    why,
    replacesOlder,
    made,
    ...(warning === undefined ? {} : { warning }),
  })
  const stored = fitting(readBookmark(job.state), stream)
  if (stored === 'none') return begin(mode === 'full_refresh' ? 'full refresh' : 'first sync')
  if ('unreadable' in stored) {
    return begin(
      'no usable state',
      `the stored state cannot be used, ${stored.unreadable}; ${WITHOUT_IDS}`,
    )
  }
  if (stored.mode !== mode) {
    return begin('other sync mode', `the sync mode has changed; ${WITHOUT_IDS}`)
  }
  if (stored.service !== made.service) {
    return begin(
      'other tenant',
      "the stored state is of another tenant, address or API name; the stream is read from the beginning and nothing is deleted, because the rows in the warehouse may be another tenant's.",
      false,
    )
  }
  const startOver = reasonToStartOver(stored, made, settings.now)
  return { do: 'restore', stored, made, ...(startOver === undefined ? {} : { startOver }) }
}

/** A bookmark is of no use to a stream that is read in another way. */
function fitting(
  stored: ReturnType<typeof readBookmark>,
  stream: Stream,
): ReturnType<typeof readBookmark> {
  if (stored === 'none' || 'unreadable' in stored) return stored
  const isDated = stored.start !== null
  const { phase } = stored.position
  const isDelta = phase !== 'list' && phase !== 'complete'
  if (isDated === (stream.dateField !== undefined) && (!isDelta || stream.replication === 'delta'))
    return stored
  return { unreadable: 'it is of a stream that is read in another way' }
}

function reasonToStartOver(stored: StoredReading, made: Made, now: Date): StartOver | undefined {
  if (stored.settings !== made.settings) {
    return {
      why: 'other settings',
      message:
        'the external references, activity structures, treatment of personal data or address in the configuration have changed, or it was reset',
    }
  }
  if (isLater(stored.start, made.start)) {
    return {
      why: 'earlier start date',
      message: `the start date has moved back from ${stored.start} to ${made.start}`,
    }
  }
  const at = deltaTime(stored.position)
  const hours = at === null ? 0 : (now.getTime() - at.getTime()) / 3_600_000
  return hours <= DELTA_LIFE_HOURS
    ? undefined
    : {
        why: 'expired link',
        message: `its link to the service is ${Math.floor(hours)} hours old, and the service forgets a delta after ${DELTA_LIFE_HOURS} hours`,
      }
}

/** When the service sent the link by which the delta continues; null where there is none. */
function deltaTime(position: Position): Date | null {
  switch (position.phase) {
    case 'initial':
      return position.page?.at ?? null
    case 'backfill':
      return position.changes.delta.at
    case 'changes':
      return position.delta.at
    default:
      return null
  }
}

/** What a warehouse is a copy of. */
function serviceOf({ tenant }: Config, { origin, mount, prefix }: Endpoints): string {
  return `${ofTenant(tenant)}${origin}${mount}${prefix}`
}

function ofTenant(tenant: string): string {
  return `${tenant} at `
}

/** Whether a stored blob stands for rows of another tenant. */
export function isOfAnotherTenant(blob: unknown, { tenant }: Config): boolean {
  const stored = readBookmark(blob)
  if (stored === 'none' || 'unreadable' in stored) return false
  return !stored.service.startsWith(ofTenant(tenant))
}

/** The service of a configuration, as stored blobs name it. */
export function configuredService(config: Config): string {
  return serviceOf(config, createEndpoints({ ...config, version: packageVersion() }))
}

/**
 * A stored blob of the same tenant, for where it is found now. Has its address or its API name changed, the
 * stream starts over and deletes what it does not meet: its rows are this tenant's alone.
 */
export function foundAt(blob: unknown, service: string): unknown {
  const stored = readBookmark(blob)
  if (stored === 'none' || 'unreadable' in stored) return blob
  return stored.service === service ? blob : startingOver({ ...(blob as object), service })
}

function madeUnder({ stream, treatment }: Job, settings: DecisionSettings): Made {
  const { config, endpoints } = settings
  // In an order of their own, so that another order in the configuration is no other setting.
  const references = referencePairs(stream, config)
    .map(([collection, name]) => JSON.stringify([collection, name]))
    .sort()
  const structures = stream.nested === 'activity_structures' ? config.activityStructures : []
  // Bookmarks of streams that are not treated stay as they were before streams could be.
  const treated = treatment.fingerprint === '' ? [] : [treatment.fingerprint]
  return {
    service: serviceOf(config, endpoints),
    settings: createHash('sha256')
      .update(JSON.stringify([references, structures, ...treated]))
      .digest('hex')
      .slice(0, 16),
    start: startOf(stream, settings),
  }
}

/** The configured start, or the service's own bound; null for what has no dates. */
function startOf(stream: Stream, { config, now }: DecisionSettings): Day | null {
  return stream.dateField ? (config.startDate ?? earliestDeltaStart(now)) : null
}

/** Whether both are days, and the first is the later one. */
export function isLater(a: Day | null, b: Day | null): boolean {
  return a !== null && b !== null && a > b
}
