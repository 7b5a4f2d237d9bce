import { createHash } from 'node:crypto'
import type { Config } from '../config/config.ts'
import { packageVersion } from '../ground/project-files.ts'
import { createEndpoints, type Endpoints } from '../http/endpoints.ts'
import type { Session } from '../http/session.ts'
import type { StreamStart, SyncFacts } from '../protocol/connector.ts'
import type { Stream } from '../streams/collection.ts'
import { readBookmark, type StoredReading, startingOver } from './bookmark.ts'
import { type Day, earliestDeltaStart } from './days.ts'
import type { Job, Task } from './job.ts'
import type { IdBudget } from './live-keys.ts'
import type { StreamLog } from './notices.ts'
import type { Position } from './position.ts'
import { createReading, type Reading, type StartOver, streamStart } from './reading.ts'
import { referencePairs } from './slices.ts'

/** What a decision is made with. */
interface DecisionSettings {
  readonly config: Config
  readonly endpoints: Endpoints
  /** The service's time. */
  readonly now: Date
}

/** What the records of a stream depend on, and the first day of them. */
interface Made {
  readonly service: string
  /** See `StoredReading.settings`. */
  readonly settings: string
  /** The first day; null for what has no dates. */
  readonly start: Day | null
}

/** From where a stream is read. */
type Decision =
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
const WITHOUT_IDS =
  'the stream is read from the beginning. Rows that were deleted meanwhile may remain; _generation tells them apart.'

/** Whether a stored bookmark fits, so that a stream continues from it, and why it does not. Asks nobody. */
function decide(job: Job, settings: DecisionSettings): Decision {
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
function isLater(a: Day | null, b: Day | null): boolean {
  return a !== null && b !== null && a > b
}

/** What a job is planned with. */
export interface PlanSettings extends DecisionSettings {
  readonly log: StreamLog
  /** Shared by the streams of the sync. */
  readonly ids: IdBudget
  /** Told when the ids of the stream outgrow the state. */
  readonly onOutgrown: () => void
}

/**
 * Makes the reading of a stream before the first request: from a stored bookmark that fits, else from
 * the beginning. Logs why it starts over.
 */
export function plan(job: Job, settings: PlanSettings): Reading {
  const { config, log, now } = settings
  const decision = decide(job, settings)
  const reading =
    decision.do === 'begin' ? begun(decision, job, settings) : restored(decision, job, settings)
  if (decision.do === 'begin' || !reading.isContinued) return reading
  const { stored, startOver, made } = decision
  if (isLater(made.start, stored.start) && config.startDate !== undefined) {
    log.warn(
      `the start date is now ${made.start}, but the warehouse holds rows from ${stored.start} on; they stay and are kept up to date. Reset the stream to leave them out.`,
    )
  }
  if (startOver !== undefined) reading.startOver(startOver, now, earlier(made.start, stored.start))
  return reading
}

type Of<Do extends Decision['do']> = Extract<Decision, { readonly do: Do }>

function begun(
  { why, warning, replacesOlder, made }: Omit<Of<'begin'>, 'do'>,
  job: Job,
  settings: PlanSettings,
): Reading {
  if (warning !== undefined) settings.log.warn(warning)
  return createReading({ ...readingOf(job, settings), ...made, why, replacesOlder })
}

/** The settings are those of now: where they differ, the stream starts over under them. */
function restored({ stored, made }: Of<'restore'>, job: Job, settings: PlanSettings): Reading {
  const { start } = stored
  try {
    return createReading({ ...readingOf(job, settings), ...made, start }, stored)
  } catch {
    const warning = `the stored state cannot be used, its set of ids is damaged; ${WITHOUT_IDS}`
    return begun({ why: 'no usable state', warning, replacesOlder: true, made }, job, settings)
  }
}

function readingOf({ stream, mode }: Job, { now, log, ids, onOutgrown }: PlanSettings) {
  const takes = (characters: number) => ids.take(stream.stream, characters)
  return { stream, mode, now, log, takes, onOutgrown }
}

function earlier(a: Day | null, b: Day | null): Day | null {
  return isLater(a, b) ? b : a
}

/** What is known of the sync before its first request. */
export function factsOf(
  tasks: readonly Task[],
  { client, clock, endpoints }: Session,
  config: Config,
): SyncFacts {
  const now = clock.now()
  return {
    subject: `tenant ${config.tenant}`,
    labels: { tenant: config.tenant },
    streams: tasks.map(({ job, output: { counts } }) => {
      const decision = decide(job, { config, endpoints, now })
      return { name: job.stream.stream, start: decidedStart(decision), counts }
    }),
    traffic: client.traffic,
    trouble: () => client.trouble?.reason,
  }
}

function decidedStart(decision: Decision): StreamStart {
  return decision.do === 'begin'
    ? streamStart(undefined, decision.why)
    : streamStart(decision.stored, decision.startOver?.why)
}
