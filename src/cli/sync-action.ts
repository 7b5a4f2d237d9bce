import { constants } from 'node:os'
import { approvalOf } from '../config/config.ts'
import { asConnectorError, ConnectorError, exitCodeOf, InterruptedError } from '../ground/errors.ts'
import { about, advised } from '../ground/message-ids.ts'
import { warnOfReaders } from '../ground/private-file.ts'
import { packageVersion } from '../ground/project-files.ts'
import { chosenStreams } from '../protocol/chosen-streams.ts'
import type { Failure } from '../protocol/connector.ts'
import { metricsVariable, type ObservedSettings, observed } from '../protocol/progress/observed.ts'
import type { SyncObserver } from '../protocol/progress/sync-progress.ts'
import { createSource } from '../source/source.ts'
import { syncWarehouse, type WarehouseSync } from '../warehouse/sync-warehouse.ts'
import {
  type ActionTools,
  type CommandAction,
  type ExitCode,
  REMEDIES,
  type Refuse,
} from './command.ts'
import { ownerOf, warehouseOf } from './warehouse-option.ts'

export interface SyncOptions {
  readonly warehouse?: string
  /** Names, separated by commas. */
  readonly streams?: string
  readonly fullRefresh?: boolean
  readonly rewrite?: boolean
  readonly dropOthers?: boolean
  readonly forgetHistory?: boolean
  /** Each as `stream:count:time`. */
  readonly approveDeletes?: readonly string[]
  /** Milliseconds. */
  readonly wait?: number
  readonly publish?: string
  readonly endWithParent?: boolean
  readonly metrics?: string
}

/** How often to check whether the parent is gone. */
const PARENT_MS = 1_000

/**
 * One sync into a warehouse. The last line of stdout is its result; the exit code says whether another
 * attempt may succeed.
 */
export function syncAction(options: SyncOptions, parent: number): CommandAction {
  return async ({ config: { approvedDeletes, ...config }, input, signal, ...tools }) => {
    if (options.endWithParent === true) endWith(parent)
    const began = new Date()
    const startedAt = performance.now()
    const seconds = () => Math.round((performance.now() - startedAt) / 10) / 100
    const shown = shownBy(options, tools)
    const done: { result?: WarehouseSync } = {}
    const source = createSource()
    const sync = async (observer: SyncObserver) => {
      const streams = streamNames(options, input)
      const path = warehouseOf(options.warehouse, input)
      await warnOfReaders(path, shown.log)
      done.result = await syncWarehouse({
        source,
        config: {
          ...config,
          approvedDeletes: [...approvedDeletes, ...(options.approveDeletes ?? []).map(approvalOf)],
        },
        path,
        streams,
        keepsHistory: (input as { readonly history?: unknown }).history === true,
        forgetsHistory: options.forgetHistory,
        owner: ownerOf(config),
        rewrites: options.rewrite === true,
        dropsOthers: options.dropOthers,
        // Streams that this command line does not name are still wanted, unless the configuration says
        // otherwise.
        mayLeaveOut: options.streams === undefined,
        waitMs: options.wait ?? 0,
        publish: options.publish,
        textOf: (failure) => advised(failure, REMEDIES),
        exitCodeOf: ({ failures, stopped }) => signalCode(stopped) ?? exitCodeOf(failures),
        startOver: options.fullRefresh === true ? 'full refresh' : undefined,
        tools: { signal, ...tools, log: shown.log, observer },
      })
      const { stopped, failures } = done.result
      if (stopped !== undefined) throw stopped
      return failures
    }
    const failures = (error: unknown) => done.result ?? failed(error)
    const { stopped, ...result } = await observed(shown, sync).then(failures, failures)
    const exitCode = report(result, { began, seconds: seconds() }, tools)
    if (stopped !== undefined) throw stopped
    return exitCode
  }
}

/** An unusable configuration is a result, too. */
export function refuseSync(options: SyncOptions): Refuse {
  return async (error, tools) => {
    const failures = await observed(shownBy(options, tools), async () => [{ error }])
    const now = { began: new Date(), seconds: 0 }
    return report({ records: 0, commits: 0, failures }, now, tools)
  }
}

function shownBy(
  { metrics }: SyncOptions,
  tools: Pick<ActionTools, 'log' | 'screen' | 'isQuiet' | 'env'>,
): ObservedSettings {
  return {
    ...progressOf(tools),
    metrics: metrics ?? tools.env[metricsVariable('protime')],
    kept: 'The warehouse is the tenant as of the last commit; the next sync continues there.',
  }
}

/** How to show progress; on a terminal, the progress and the table replace lines of the log. */
export function progressOf({
  log,
  screen,
  isQuiet,
}: Pick<ActionTools, 'log' | 'screen' | 'isQuiet'>): Omit<ObservedSettings, 'metrics' | 'kept'> {
  return {
    program: 'protime',
    version: packageVersion(),
    name: 'protime',
    log: screen.isTerminal ? { ...log, info: () => {} } : log,
    screen,
    logsBesideBlock: false,
    tellsFailures: false,
    isQuiet,
  }
}

function failed(error: unknown): WarehouseSync {
  if (error instanceof InterruptedError)
    return { records: 0, commits: 0, failures: [], stopped: error }
  return { records: 0, commits: 0, failures: [{ error: asConnectorError(error) }] }
}

function report(
  { records, commits, failures }: Omit<WarehouseSync, 'stopped'>,
  { began, seconds }: { readonly began: Date; readonly seconds: number },
  { say, log, mask }: Pick<ActionTools, 'say' | 'log' | 'mask'>,
): ExitCode {
  const told = tellFailures(failures, { log, mask })
  void say({ records, commits, failures: told, seconds, began, ended: new Date() })
  return exitCodeOf(failures)
}

/** Logs failures; returns them in the form of the result. */
export function tellFailures(
  failures: readonly Failure[],
  { log, mask }: Pick<ActionTools, 'log' | 'mask'>,
) {
  const told = failures.map(({ stream, error }) => ({
    id: error.id,
    type: error.failure,
    message: mask.text(advised(about(stream, error), REMEDIES)),
    ...(stream === undefined ? {} : { stream }),
  }))
  for (const { stream, error } of failures) log.error(about(error.failure, about(stream, error)))
  return told
}

/** The exit code of a shell for a program that was ended by a signal. */
function signalCode(stopped: unknown): number | undefined {
  const number =
    stopped instanceof InterruptedError && constants.signals[stopped.message as 'SIGTERM']
  return number ? 128 + number : undefined
}

/** The streams of the command line or the configuration, or all. Throws a config error for names that choose none. */
export function chosenSpecs(
  options: Pick<SyncOptions, 'streams'>,
  { config, input }: Pick<ActionTools, 'config' | 'input'>,
) {
  return chosenStreams(createSource(), config, streamNames(options, input))
}

/** The streams of the command line, or those of the member `streams` of the configuration; undefined means all. */
function streamNames(
  { streams }: Pick<SyncOptions, 'streams'>,
  input: unknown,
): readonly string[] | undefined {
  if (streams !== undefined)
    return streams
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean)
  const { streams: names } = input as { readonly streams?: unknown }
  if (names === undefined) return undefined
  if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
  throw new ConnectorError(
    'config',
    'streams-not-a-list',
    'streams in the configuration must be a list of names.',
  )
}

/**
 * A killed scheduler cannot end the sync that it has started, and the next run would find it still there.
 */
function endWith(parent: number): void {
  const look = () => {
    if (process.ppid !== parent) process.kill(process.pid, 'SIGTERM')
  }
  setInterval(look, PARENT_MS).unref()
}
