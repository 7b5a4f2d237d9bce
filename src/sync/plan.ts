import type { Day } from './days.ts'
import { type Decision, type DecisionSettings, decide, isLater, WITHOUT_IDS } from './decision.ts'
import type { IdBudget } from './id-budget.ts'
import type { Job } from './job.ts'
import { createReading, type Reading } from './reading.ts'
import type { StreamLog } from './stream-warnings.ts'

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
