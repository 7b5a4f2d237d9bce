import { asConnectorError, InterruptedError } from '../../ground/errors.ts'
import type { Failure, Log, SyncObserver } from '../connector.ts'
import { createLogLines } from './log-lines.ts'
import { createMetricsFile } from './metrics-file.ts'
import type { Screen } from './screen.ts'
import {
  createSyncProgress,
  PROGRESS_CLOCK,
  type ProgressClock,
  type ProgressListener,
  type SyncOutcome,
} from './sync-progress.ts'
import { createTerminal } from './terminal.ts'

/** How a program shows its sync. */
export interface ObservedSettings {
  /** "tap-x". */
  readonly program: string
  readonly version: string
  /** Begins the names of the metrics: "x" makes `x_sync_success`. */
  readonly name: string
  readonly log: Log
  /** Where the block is drawn; undefined where none is to be. */
  readonly screen: Screen | undefined
  /** False where the log shows the lines on the same terminal as the block. */
  readonly logsBesideBlock: boolean
  /** False where the program says on stderr itself what failed. */
  readonly tellsFailures: boolean
  /** Where metrics are written, if they are. */
  readonly metrics: string | undefined
  /** Leaves out the block and the lines. */
  readonly isQuiet: boolean
  /** Said of a sync that was stopped: what a later one continues from. */
  readonly kept: string
  /** More that listens. */
  readonly listeners?: readonly ProgressListener[]
  readonly clock?: ProgressClock
}

/** The environment variable that names the metrics file, for runners without options: `X_METRICS_FILE`. */
export function metricsVariable(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_METRICS_FILE`
}

/**
 * Does a sync and shows how far it is: a block on a terminal, lines in the log, metrics at its end, also
 * where it fails. What `work` answers or throws is passed on.
 */
export async function observed(
  settings: ObservedSettings,
  work: (observer: SyncObserver) => Promise<readonly Failure[]>,
): Promise<readonly Failure[]> {
  const { clock = PROGRESS_CLOCK, listeners = [], log } = settings
  const metrics = metricsOf(settings)
  await metrics?.assertWritable()
  const progress = createSyncProgress(
    [...shown(settings, clock), ...listeners, ...(metrics === undefined ? [] : [metrics])],
    clock,
  )
  try {
    const failures = await work(progress.observer)
    progress.finish({ failures })
    return failures
  } catch (error) {
    progress.finish(outcomeOf(error))
    throw error
  } finally {
    // The sync is what it is without them: whoever watches the metrics sees that they are old.
    await metrics?.write().catch((error) => log.warn(asConnectorError(error).message))
  }
}

function shown(settings: ObservedSettings, clock: ProgressClock): ProgressListener[] {
  const { screen, isQuiet, logsBesideBlock, program, version } = settings
  if (isQuiet) return []
  const hasBlock = screen?.isTerminal === true
  const lines = { ...settings, clock, program: `${program} ${version}` }
  return [
    ...(hasBlock ? [createTerminal({ ...settings, screen, clock })] : []),
    ...(!hasBlock || logsBesideBlock ? [createLogLines(lines)] : []),
  ]
}

function metricsOf({ metrics, program, name }: ObservedSettings) {
  if (metrics === undefined || metrics === '') return undefined
  return createMetricsFile({ path: metrics, prefix: `${name}_sync`, program })
}

function outcomeOf(error: unknown): SyncOutcome {
  return error instanceof InterruptedError
    ? { failures: [], stoppedBy: error.message }
    : { failures: [{ error: asConnectorError(error) }] }
}
