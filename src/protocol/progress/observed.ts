import { asConnectorError, InterruptedError } from '../../ground/errors.ts'
import type { Failure, Log } from '../connector.ts'
import { createLogLines } from './log-lines.ts'
import { createMetricsFile } from './metrics-file.ts'
import type { Screen } from './screen.ts'
import {
  createSyncProgress,
  PROGRESS_CLOCK,
  type ProgressClock,
  type ProgressListener,
  type SyncObserver,
  type SyncOutcome,
} from './sync-progress.ts'
import { createTerminal } from './terminal.ts'

/** How a program shows the progress of a sync. */
export interface ObservedSettings {
  /** For example "tap-x". */
  readonly program: string
  readonly version: string
  /** The prefix of metric names: "x" results in `x_sync_success`. */
  readonly name: string
  readonly log: Log
  /** Where the progress block is drawn; undefined for none. */
  readonly screen: Screen | undefined
  /** False if the log shows the same lines on the terminal of the block. */
  readonly logsBesideBlock: boolean
  /** False if the program itself reports failures on stderr. */
  readonly tellsFailures: boolean
  /** The path of the metrics file, if there is one. */
  readonly metrics: string | undefined
  /** Shows neither the block nor the log lines. */
  readonly isQuiet: boolean
  /** What to say if the sync is stopped: where a later one continues. */
  readonly kept: string
  /** Additional listeners. */
  readonly listeners?: readonly ProgressListener[]
  readonly clock?: ProgressClock
}

/**
 * The environment variable for the path of the metrics file, for runners that cannot pass options: `X_METRICS_FILE`.
 */
export function metricsVariable(name: string): string {
  return `${name.toUpperCase().replaceAll('-', '_')}_METRICS_FILE`
}

/**
 * Runs a sync and shows its progress: as a block on a terminal, as lines in the log, and as metrics at its end, even
 * if it fails. Returns or throws what `work` does.
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
    // Metrics that cannot be written do not fail the sync: whoever watches them sees that they are old.
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
