import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Endpoints } from '../http/endpoints.ts'
import type { Treatment } from '../privacy/treatment.ts'
import type { Log } from '../protocol/connector.ts'
import type { Stream } from '../streams/collection.ts'
import { readBookmark, type StoredReading } from './bookmark.ts'
import { type Day, earliestDeltaStart } from './days.ts'
import type { IdBudget } from './id-budget.ts'
import type { Position } from './position.ts'
import { createReading, type Reading } from './reading.ts'
import { referencePairs } from './slices.ts'

/** A stream as the catalog asks for it, with what an earlier sync left. */
export interface Job {
  readonly stream: Stream
  readonly mode: 'full_refresh' | 'incremental'
  /** The stored state of the stream, unchecked. */
  readonly state: unknown
  /** How the personal data of its records is treated. */
  readonly treatment: Pick<Treatment, 'rules' | 'fingerprint'>
}

/** What a job is planned with. */
export interface PlanSettings {
  readonly config: Config
  readonly endpoints: Endpoints
  /** The service's time. */
  readonly now: Date
  readonly log: Log
  /** Shared by the streams of the sync. */
  readonly ids: IdBudget
  /** Told when the ids of the stream outgrow the state. */
  readonly onOutgrown: () => void
}

/** How long a delta link lives: since its last request, or since it was sent (docs/service.md, "Expiry"). */
const DELTA_LIFE_HOURS = 72

/**
 * Decides before the first request where a stream continues: from a stored
 * bookmark that fits, else from the beginning. Logs why it starts over.
 */
export function plan(job: Job, settings: PlanSettings): Reading {
  const { stream, mode } = job
  const { config, log, now, ids, onOutgrown } = settings
  const made = madeUnder(job, settings)
  const start = startOf(stream, settings)
  const takes = (characters: number) => ids.take(stream.stream, characters)
  const fresh = (replacesOlder = true) =>
    createReading({ stream, mode, ...made, start, now, log, takes, onOutgrown, replacesOlder })
  const stored = fitting(readBookmark(job.state), stream)
  if (stored === 'none') return fresh()
  if ('unreadable' in stored) {
    log.warn(
      `${stream.stream}: the stored state cannot be used, ${stored.unreadable}; ${WITHOUT_IDS}`,
    )
    return fresh()
  }
  if (stored.mode !== mode) {
    log.warn(`${stream.stream}: the sync mode has changed; ${WITHOUT_IDS}`)
    return fresh()
  }
  if (stored.service !== made.service) {
    log.warn(
      `${stream.stream}: the stored state is of another tenant, address or API name; the stream is read from the beginning and nothing is deleted, because the rows in the warehouse may be another tenant's.`,
    )
    return fresh(false)
  }
  const reading = restored({ ...stored, settings: made.settings }, job, settings)
  if (reading === undefined) return fresh()
  if (isLater(start, stored.start) && config.startDate !== undefined) {
    log.warn(
      `${stream.stream}: the start date is now ${start}, but the warehouse holds rows from ${stored.start} on; they stay and are kept up to date. Reset the stream to leave them out.`,
    )
  }
  const reason = reasonToStartOver(stored, { ...made, start, now })
  if (reason !== undefined) reading.startOver(reason, now, earlier(start, stored.start))
  return reading
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

/** What a reading without the ids of the one before it means. */
const WITHOUT_IDS =
  'the stream is read from the beginning. Rows that were deleted meanwhile may remain; _generation tells them apart.'

/** `settings` of the bookmark are those of now: where they differ, the stream starts over under them. */
function restored(
  stored: StoredReading,
  { stream, mode }: Job,
  { now, log, ids, onOutgrown }: PlanSettings,
): Reading | undefined {
  const { service, settings, start } = stored
  const takes = (characters: number) => ids.take(stream.stream, characters)
  try {
    return createReading(
      { stream, mode, service, settings, start, now, log, takes, onOutgrown },
      stored,
    )
  } catch {
    log.warn(
      `${stream.stream}: the stored state cannot be used, its set of ids is damaged; ${WITHOUT_IDS}`,
    )
    return undefined
  }
}

function reasonToStartOver(
  stored: StoredReading,
  made: { readonly settings: string; readonly start: Day | null; readonly now: Date },
): string | undefined {
  if (stored.settings !== made.settings) {
    return 'the external references, activity structures or treatment of personal data in the configuration have changed, or it was reset'
  }
  if (isLater(stored.start, made.start)) {
    return `the start date has moved back from ${stored.start} to ${made.start}`
  }
  const at = deltaTime(stored.position)
  const hours = at === null ? 0 : (made.now.getTime() - at.getTime()) / 3_600_000
  return hours <= DELTA_LIFE_HOURS
    ? undefined
    : `its link to the service is ${Math.floor(hours)} hours old, and the service forgets a delta after ${DELTA_LIFE_HOURS} hours`
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

function madeUnder({ stream, treatment }: Job, { config, endpoints }: PlanSettings) {
  // In an order of their own, so that another order in the configuration is no other setting.
  const references = referencePairs(stream, config)
    .map(([collection, name]) => JSON.stringify([collection, name]))
    .sort()
  const structures = stream.nested === 'activity_structures' ? config.activityStructures : []
  // Bookmarks of streams that are not treated stay as they were before streams could be.
  const treated = treatment.fingerprint === '' ? [] : [treatment.fingerprint]
  return {
    service: `${config.tenant} at ${endpoints.origin}${endpoints.mount}${endpoints.prefix}`,
    settings: createHash('sha256')
      .update(JSON.stringify([references, structures, ...treated]))
      .digest('hex')
      .slice(0, 16),
  }
}

/** The configured start, or the service's own bound; null for what has no dates. */
function startOf(stream: Stream, { config, now }: PlanSettings): Day | null {
  return stream.dateField ? (config.startDate ?? earliestDeltaStart(now)) : null
}

function isLater(a: Day | null, b: Day | null): boolean {
  return a !== null && b !== null && a > b
}

function earlier(a: Day | null, b: Day | null): Day | null {
  return isLater(a, b) ? b : a
}
