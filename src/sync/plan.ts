import { createHash } from 'node:crypto'
import type { Service } from '../api/service.ts'
import type { Stream } from '../catalogue/collection.ts'
import type { Config } from '../config.ts'
import type { Log } from '../protocol/log.ts'
import { type Bookmark, parseBookmark } from './bookmark.ts'
import { type Day, earliestDeltaStart } from './days.ts'
import { createProgress, type Progress } from './progress.ts'

/** A stream as the catalog asks for it, with what an earlier sync left. */
export interface Job {
  readonly stream: Stream
  readonly mode: 'full_refresh' | 'incremental'
  /** The stored state of the stream, unchecked. */
  readonly state: unknown
}

/** What a job is planned with. */
export interface PlanSettings {
  readonly config: Config
  readonly service: Service
  /** The service's time. */
  readonly now: Date
  readonly log: Log
}

/** A delta link lives so long, from the last request on or from its making (specification, "Limits"). */
const DELTA_LIFE_HOURS = 72

/**
 * Decides before the first request where a stream goes on, or that it starts over: from a stored
 * bookmark that fits, else from the beginning. Says each time why (design D3, D6).
 */
export function plan(job: Job, settings: PlanSettings): Progress {
  const { stream, mode } = job
  const { config, log, now } = settings
  const made = madeUnder(stream, settings)
  const start = startOf(stream, settings)
  const fresh = (replaces = true) =>
    createProgress({ stream, mode, ...made, start, now, log, replaces })
  const stored = parseBookmark(job.state)
  if (stored === 'none') return fresh()
  if ('unreadable' in stored) {
    log.warn(
      `${stream.stream}: the stored state cannot be used, ${stored.unreadable}; the stream is read from the beginning. Rows that were deleted meanwhile may remain; _generation tells them apart.`,
    )
    return fresh()
  }
  if (stored.mode !== mode) {
    log.info(`${stream.stream}: the sync mode has changed; the stream is read from the beginning.`)
    return fresh()
  }
  if (stored.service !== made.service) {
    log.warn(
      `${stream.stream}: the stored state is of another tenant, address or API name; the stream is read from the beginning and nothing is deleted, because the rows in the warehouse may be another tenant's.`,
    )
    return fresh(false)
  }
  const progress = restored({ ...stored, settings: made.settings }, job, settings)
  if (progress === undefined) return fresh()
  if (isLater(start, stored.start) && config.startDate !== undefined) {
    log.warn(
      `${stream.stream}: the start date is now ${start}, but the warehouse holds rows from ${stored.start} on; they stay and are kept up to date. Reset the stream to leave them out.`,
    )
  }
  const reason = reasonToStartOver(stored, { ...made, start, now })
  if (reason !== undefined) progress.startOver(reason, now, earlier(start, stored.start))
  return progress
}

/** `settings` of the bookmark are those of now: where they differ, the stream starts over under them. */
function restored(stored: Bookmark, job: Job, { now, log }: PlanSettings): Progress | undefined {
  const { stream, mode } = job
  const { service, settings, start } = stored
  try {
    return createProgress(
      { stream, mode, service, settings, start: start ?? null, now, log },
      stored,
    )
  } catch {
    log.warn(
      `${stream.stream}: the stored state cannot be used, its set of ids is damaged; the stream is read from the beginning.`,
    )
    return undefined
  }
}

function reasonToStartOver(
  stored: Bookmark,
  made: { readonly settings: string; readonly start: Day | null; readonly now: Date },
): string | undefined {
  if (stored.settings !== made.settings) {
    return 'the external references or activity structures in the configuration have changed, or it was reset'
  }
  if (isLater(stored.start, made.start)) {
    return `the start date has moved back from ${stored.start} to ${made.start}`
  }
  if (stored.mode === 'full_refresh' || stored.part === 'list' || stored.part === 'listed')
    return undefined
  for (const at of [stored.part === 'history' ? null : stored.link_at, stored.delta_link_at]) {
    const hours =
      at === null || at === undefined ? 0 : (made.now.getTime() - Date.parse(at)) / 3_600_000
    if (hours > DELTA_LIFE_HOURS) {
      return `its link to the service is ${Math.floor(hours)} hours old, and the service forgets a delta after ${DELTA_LIFE_HOURS} hours`
    }
  }
  return undefined
}

function madeUnder(stream: Stream, { config, service }: PlanSettings) {
  const references = config.externalReferences.filter(({ collection }) =>
    stream.references?.includes(collection),
  )
  const structures = stream.nested === 'activity_structures' ? config.activityStructures : []
  return {
    service: `${config.tenant} at ${service.origin}${service.mount}${service.prefix}`,
    settings: createHash('sha256')
      .update(JSON.stringify([references, structures]))
      .digest('hex')
      .slice(0, 16),
  }
}

/** The configured start, or the service's own bound; null for what has no dates. */
function startOf(stream: Stream, { config, now }: PlanSettings): Day | null {
  return stream.dated ? (config.startDate ?? earliestDeltaStart(now)) : null
}

function isLater(a: Day | null, b: Day | null): boolean {
  return a !== null && b !== null && a > b
}

function earlier(a: Day | null, b: Day | null): Day | null {
  return isLater(a, b) ? b : a
}
