import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import { warningOf } from '../ground/message-ids.ts'
import { HttpError } from '../http/http-error.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope, notEntitled } from '../http/token.ts'
import { createPageReader } from '../pages/page-reader.ts'
import { createPages } from '../pages/pages.ts'
import { createSuppression } from '../pages/suppression.ts'
import { createWaiting, createWaitReport, stillWaiting } from '../pages/waiting.ts'
import type { Failure, Log, SyncFacts, SyncReporter } from '../protocol/connector.ts'
import { OutputClosedError } from '../protocol/line-writer.ts'
import { summary } from '../protocol/progress/sync-summary.ts'
import { createJsonBatch } from '../records/record-batch.ts'
import { createListedParts } from '../rows/listed-parts.ts'
import { createIdBudget, type IdBudget } from '../rows/stored-keys.ts'
import { createStreamInventory, type StreamInventory } from '../rows/stream-inventory.ts'
import { INVENTORY, readScopes } from '../streams/streams.ts'
import { lastDayOf, refuseLateStart } from './delta-window.ts'
import { emitDeletes } from './emit.ts'
import {
  createExpiredDeltas,
  createStreamWarnings,
  type ExpiredDeltas,
  type StreamWarnings,
} from './notices.ts'
import { continuesDelta, type Decision, decide, plan, startOf, storedCharacters } from './plan.ts'
import { readStream } from './read-stream.ts'
import type { StreamState } from './stream-state.ts'
import { createDeltaBarrier, inOrder, isDelta, type StreamTask } from './stream-task.ts'

export interface RunSettings extends SessionSettings {
  readonly log: Log
  /** Requested streams that cannot be read; they are reported together with the failed ones. */
  readonly refused?: readonly Failure[]
  /** See `ReadTools.keptStates`. */
  readonly keptStates?: readonly unknown[]
  readonly progress: SyncReporter
}

/** The settings of a sync, and its connection to the service. */
type Connected = RunSettings & Session

/** What the streams of a sync share. */
type Sync = Connected & {
  readonly ids: IdBudget
  readonly expiredDeltas: ExpiredDeltas
  readonly warnings: StreamWarnings
}

/** A stream, with what is known of it before its first request. */
interface PlannedTask extends StreamTask {
  /** How it is read, decided once, by the service's time. */
  readonly decision: Decision
  /** Set if an inventory is written. */
  readonly inventory: StreamInventory | undefined
}

/**
 * Reads all streams, at most `concurrency` at a time. A failing stream does not stop the others; the failures are
 * returned. Throws only if the process has to stop.
 */
export async function runSync(
  tasks: readonly StreamTask[],
  settings: RunSettings,
): Promise<Failure[]> {
  const session = createSession(settings, scopesOf(tasks))
  const connected = { ...settings, ...session }
  const { client, log, progress, refused = [] } = connected
  const startedAt = performance.now()
  progress.begun(factsOf(tasks, connected))
  try {
    const failed = await begin(tasks, connected).then(
      () => readAll(tasks, connected),
      (error) => refuseAll(tasks, error, connected),
    )
    const failures = [...refused, ...failed]
    const seconds = (performance.now() - startedAt) / 1000
    const streams = tasks.map(({ stream, output: { counts } }) => ({ name: stream.stream, counts }))
    const line = summary(streams, failures, client.traffic, seconds)
    // A verification or an erasure, which only asks for lists, tells its own result.
    const isSync = tasks.some(({ byLists }) => byLists === undefined)
    if (failures.length === 0 || !isSync) log.info(line)
    else log.warn(warningOf('sync-not-complete', line))
    return failures
  } finally {
    await session.close()
  }
}

/** The facts about the sync before its first request. */
function factsOf(tasks: readonly StreamTask[], { client, config }: Connected): SyncFacts {
  const { tenant } = config
  const requests = new Map(tasks.map(({ stream, requests }) => [stream.stream, requests]))
  return {
    subject: `tenant ${tenant}`,
    labels: { tenant },
    traffic: client.traffic,
    requestsOf: (name) => requests.get(name)?.count ?? 0,
    retryCause: () => client.retryCause?.reason,
  }
}

/** The preferred scopes of all streams, without duplicates. */
function scopesOf(tasks: readonly StreamTask[]): string[] {
  const asked = tasks.filter((task) => !isInventory(task))
  return [...new Set(asked.map(({ stream }) => readScopes(stream)[0]))]
}

function isInventory({ stream }: StreamTask): boolean {
  return stream === INVENTORY
}

/** Requests the token, whose answer also has the service's time, and checks what applies to all streams. */
async function begin(
  tasks: readonly StreamTask[],
  { client, clock, retryPolicy, config, log }: Connected,
): Promise<void> {
  if (tasks.length > 0 && tasks.every(isInventory)) {
    throw new ConnectorError(
      'config',
      'inventory-alone',
      'The stream inventory describes the other streams of the same sync, and none of them is selected. Select at least one other stream.',
    )
  }
  const waiting = createWaiting(retryPolicy.time, () =>
    log.warn(stillWaiting('The sync', client.retryCause)),
  )
  waiting.begin()
  try {
    await client.token()
  } finally {
    waiting.close()
  }
  refuseLateStart(config.startDate, clock.now())
}

async function readAll(tasks: readonly StreamTask[], connected: Connected): Promise<Failure[]> {
  const { config, endpoints, clock, log, progress, keptStates } = connected
  const now = clock.now()
  const hasInventory = tasks.some(isInventory)
  const planned = tasks.map((task) => ({
    ...task,
    decision: decide(task, { config, endpoints, now }),
    inventory: hasInventory ? createStreamInventory(task.stream) : undefined,
  }))
  progress.planned(byName(planned, startOf))
  const sync: Sync = {
    ...connected,
    ids: createIdBudget(byName(planned, storedCharacters), charactersOf(keptStates)),
    expiredDeltas: createExpiredDeltas(planned.filter(continuesDelta).length),
    warnings: createStreamWarnings(log),
  }
  const read = planned.filter((task) => !isInventory(task))
  const failures = await work(read, sync)
  const inventory = planned.find(isInventory)
  if (inventory !== undefined) await writeInventory(inventory, read, sync)
  sync.warnings.logRest()
  const advice = sync.expiredDeltas.advice()
  if (advice !== undefined) log.warn(advice)
  return failures
}

/** The number of characters of stored states. */
function charactersOf(states: readonly unknown[] = []): number {
  return states.reduce<number>((sum, state) => sum + (JSON.stringify(state)?.length ?? 0), 0)
}

/** A fact about the decision of each stream, by the name of the stream. */
function byName<T>(tasks: readonly PlannedTask[], fact: (decision: Decision) => T): Map<string, T> {
  return new Map(tasks.map(({ stream, decision }) => [stream.stream, fact(decision)]))
}

/** The state of a stream before its first request. */
function stateOf(task: PlannedTask, { clock, warnings, ids }: Sync): StreamState {
  const log = warnings.of(task.stream.stream)
  return plan(task.decision, task, { clock, log, ids })
}

/**
 * Writes the whole inventory, and deletes rows of an earlier one that it no longer has. It comes last, because it
 * describes what this sync has read.
 */
async function writeInventory(
  task: PlannedTask,
  described: readonly PlannedTask[],
  sync: Sync,
): Promise<void> {
  const { output, mode } = task
  sync.signal.throwIfAborted()
  const state = stateOf(task, sync)
  output.started(() => state.blob(), state.begunFrom)
  if (!state.isRefreshed) {
    // The inventory is always created again, whatever the state of the last sync.
    if (state.isContinued) state.beginAnew()
    const rows = described.flatMap(({ inventory }) => inventory?.rows ?? [])
    const batch = createJsonBatch(
      rows.map((row) => ({
        json: JSON.stringify(row),
        key: JSON.stringify([row.stream, row.part]),
      })),
    )
    state.addRows(batch.count)
    if (mode === 'incremental') state.keys.observe(batch, 'window')
    await output.records(batch, state.stamp())
    state.moveTo({ phase: 'complete', next: 'list' })
    await emitDeletes({ state, output })
  }
  await output.complete()
}

async function work(tasks: readonly PlannedTask[], sync: Sync): Promise<Failure[]> {
  const failures: Failure[] = []
  const barrier = createDeltaBarrier(tasks)
  // Shared by the workers: each takes the next task.
  const queue = inOrder(tasks).values()
  const worker = async () => {
    for (const task of queue) {
      if (isDelta(task)) await barrier.passed
      const error = await isolate(task, sync)
      task.inventory?.ended(sync.clock.now(), error !== undefined)
      if (error !== undefined) {
        failures.push({ stream: task.stream.stream, error })
        await task.output.failed(error)
      }
      barrier.finished(task)
    }
  }
  await Promise.all(Array.from({ length: sync.config.concurrency }, worker))
  return failures
}

/** Reads one stream and returns its failure; errors that stop the whole process are thrown. */
async function isolate(task: PlannedTask, sync: Sync): Promise<ConnectorError | undefined> {
  const { log, signal, config, endpoints, clock, client } = sync
  const { stream, redaction, output, requests, inventory } = task
  let isStarted = false
  try {
    signal.throwIfAborted()
    const state = stateOf(task, sync)
    if (!hasScope(await client.token(), endpoints, readScopes(stream))) {
      throw notEntitled(readScopes(stream)[0], endpoints)
    }
    const reader = createPageReader(stream, redaction, config.maxRecordMb, task.selection)
    const waits = createWaitReport(stream.stream, output, log)
    isStarted = true
    await readStream({
      ...sync,
      state,
      output,
      inventory,
      pages: createPages({ ...sync, reader, waits, requests }),
      suppression: createSuppression(stream, config),
      parts: createListedParts(stream),
      lastDay: lastDayOf(state, config.futureDays, clock.now()),
    })
    return undefined
  } catch (error) {
    if (error instanceof OutputClosedError) throw error
    if (signal.aborted) {
      // The rows that were read need not be read again.
      if (isStarted) void output.checkpoint()
      throw signal.reason
    }
    return inContext(asConnectorError(error))
  }
}

async function refuseAll(
  tasks: readonly StreamTask[],
  cause: unknown,
  { signal }: Connected,
): Promise<Failure[]> {
  signal.throwIfAborted()
  const error = asConnectorError(cause)
  await Promise.all(tasks.map(({ output }) => output.failed(error)))
  return [{ error }]
}

function inContext(error: ConnectorError): ConnectorError {
  if (!(error instanceof HttpError)) return error
  if (error.id === 'not-offered')
    return new ConnectorError('config', 'stream-not-offered', error.message, { cause: error })
  if (!error.is('permission')) return error
  return new ConnectorError(
    'config',
    'permission-missing',
    `${error.message} Ask the operator of the service for the permission.`,
    { cause: error },
  )
}
