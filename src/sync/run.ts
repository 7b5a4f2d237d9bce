import type { Config } from '../config/config.ts'
import { asConnectorError, ConnectorError } from '../ground/errors.ts'
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
import { refuseLateStart } from './delta-window.ts'
import { createEmit, emitDeletes } from './emit.ts'
import {
  createExpiredDeltas,
  createStreamWarnings,
  type ExpiredDeltas,
  type StreamWarnings,
} from './notices.ts'
import { continuesDelta, type Decision, decide, plan, startOf, storedCharacters } from './plan.ts'
import { readStream } from './read-stream.ts'
import { lastDayOf, type StreamState } from './stream-state.ts'
import { createDeltaBarrier, inOrder, isDelta, type StreamTask } from './stream-task.ts'

export interface RunSettings extends SessionSettings {
  readonly log: Log
  /** Requested streams that cannot be read; they are reported together with the failed ones. */
  readonly refused?: readonly Failure[]
  /** See `ReadTools.keptStates`. */
  readonly keptStates?: readonly unknown[]
  readonly progress: SyncReporter
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
  const { client } = session
  const startedAt = performance.now()
  settings.progress.begun(factsOf(tasks, session, settings.config))
  try {
    const failed = await begin(tasks, session, settings).then(
      () => readAll(tasks, session, settings),
      (error) => refuseAll(tasks, error, settings),
    )
    const failures = [...(settings.refused ?? []), ...failed]
    const seconds = (performance.now() - startedAt) / 1000
    const streams = tasks.map(({ stream, output: { counts } }) => ({ name: stream.stream, counts }))
    const line = summary(streams, failures, client.traffic, seconds)
    if (failures.length === 0) settings.log.info(line)
    else settings.log.warn(line)
    return failures
  } finally {
    await session.close()
  }
}

/** The facts about the sync before its first request. */
function factsOf(tasks: readonly StreamTask[], { client }: Session, { tenant }: Config): SyncFacts {
  const requests = new Map(tasks.map(({ stream, requests }) => [stream.stream, requests]))
  return {
    subject: `tenant ${tenant}`,
    labels: { tenant },
    traffic: client.traffic,
    requestsOf: (name) => requests.get(name)?.count ?? 0,
    retryCause: () => client.retryCause?.reason,
  }
}

/** What the streams of a sync share. */
interface Shared {
  /** What the inventory says of each stream; empty if the inventory is not selected. */
  readonly inventories: ReadonlyMap<StreamTask, StreamInventory>
  /** How each stream is read, decided once, by the service's time. */
  readonly decisions: ReadonlyMap<StreamTask, Decision>
  readonly ids: IdBudget
  readonly expiredDeltas: ExpiredDeltas
  readonly warnings: StreamWarnings
}

/** The preferred scopes of all streams, without duplicates. */
function scopesOf(tasks: readonly StreamTask[]): string[] {
  const asked = tasks.filter((task) => !isInventory(task))
  return [...new Set(asked.map(({ stream }) => readScopes(stream)[0]))]
}

/** Requests the token, whose answer also has the service's time, and checks what applies to all streams. */
async function begin(
  tasks: readonly StreamTask[],
  { client, clock, retryPolicy }: Session,
  { config, log }: RunSettings,
): Promise<void> {
  if (tasks.length > 0 && tasks.every(isInventory)) {
    throw new ConnectorError(
      'config',
      'no-stream-selected',
      'The stream inventory describes the other streams of the same sync, and none of them is selected.',
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

async function readAll(
  tasks: readonly StreamTask[],
  session: Session,
  settings: RunSettings,
): Promise<Failure[]> {
  const { endpoints, clock } = session
  const { config, log, progress } = settings
  const now = clock.now()
  const decisions = new Map(tasks.map((task) => [task, decide(task, { config, endpoints, now })]))
  progress.planned(byName(decisions, startOf))
  const read = tasks.filter((task) => !isInventory(task))
  const inventory = tasks.find(isInventory)
  const counted = inventory === undefined ? [] : read
  const shared: Shared = {
    decisions,
    inventories: new Map(counted.map((task) => [task, createStreamInventory(task.stream)])),
    ids: createIdBudget(byName(decisions, storedCharacters), charactersOf(settings.keptStates)),
    expiredDeltas: createExpiredDeltas([...decisions.values()].filter(continuesDelta).length),
    warnings: createStreamWarnings(log),
  }
  const failures = await work(read, session, shared, settings)
  if (inventory !== undefined) await writeInventory(inventory, session, shared, settings)
  shared.warnings.logRest()
  const advice = shared.expiredDeltas.advice()
  if (advice !== undefined) log.warn(advice)
  return failures
}

function isInventory({ stream }: StreamTask): boolean {
  return stream === INVENTORY
}

/**
 * Writes the whole inventory, and deletes rows of an earlier one that it no longer has. It comes last, because it
 * describes what this sync has read.
 */
async function writeInventory(
  task: StreamTask,
  session: Session,
  shared: Shared,
  settings: RunSettings,
): Promise<void> {
  const { output, mode } = task
  const { signal } = settings
  const { clock } = session
  signal.throwIfAborted()
  const state = stateOf(task, session, shared, settings)
  output.started(() => state.blob(), state.begunFrom)
  if (!state.isRefreshed) {
    // The inventory is always created again, whatever the state of the last sync.
    if (state.isContinued) state.beginAnew(clock.now())
    const rows = [...shared.inventories.values()].flatMap((inventory) => inventory.rows)
    const batch = createJsonBatch(
      rows.map((row) => ({
        json: JSON.stringify(row),
        key: JSON.stringify([row.stream, row.part]),
      })),
    )
    state.addRows(batch.count)
    if (mode === 'incremental') state.keys.observe(batch, 'window')
    await output.records(batch, state.stamp(clock.now()))
    state.moveTo({ phase: 'complete', next: 'list' })
    await emitDeletes({ state, output, clock })
  }
  await output.complete()
}

/** The state of a stream before its first request. */
function stateOf(
  task: StreamTask,
  { clock }: Session,
  { decisions, warnings, ids }: Shared,
  { config }: RunSettings,
): StreamState {
  const log = warnings.of(task.stream.stream)
  return plan(decisions.get(task) as Decision, task, { config, now: clock.now(), log, ids })
}

/** The number of characters of stored states. */
function charactersOf(states: readonly unknown[] = []): number {
  return states.reduce<number>((sum, state) => sum + (JSON.stringify(state)?.length ?? 0), 0)
}

/** A fact about the decision of each stream, by the name of the stream. */
function byName<T>(
  decisions: ReadonlyMap<StreamTask, Decision>,
  fact: (decision: Decision) => T,
): Map<string, T> {
  return new Map([...decisions].map(([{ stream }, decision]) => [stream.stream, fact(decision)]))
}

async function work(
  tasks: readonly StreamTask[],
  session: Session,
  shared: Shared,
  settings: RunSettings,
): Promise<Failure[]> {
  const failures: Failure[] = []
  const barrier = createDeltaBarrier(tasks)
  // Shared by the workers: each takes the next task.
  const queue = inOrder(tasks).values()
  const worker = async () => {
    for (const task of queue) {
      if (isDelta(task)) await barrier.passed
      const error = await isolate(task, session, shared, settings)
      const { stream } = task.stream
      shared.inventories.get(task)?.ended(session.clock.now(), error !== undefined)
      if (error !== undefined) {
        failures.push({ stream, error })
        await task.output.failed(error)
      }
      barrier.finished(task)
    }
  }
  await Promise.all(Array.from({ length: settings.config.concurrency }, worker))
  return failures
}

/** Reads one stream and returns its failure; errors that stop the whole process are thrown. */
async function isolate(
  task: StreamTask,
  session: Session,
  shared: Shared,
  settings: RunSettings,
): Promise<ConnectorError | undefined> {
  const { log, signal, config } = settings
  const { endpoints, clock, client, retryPolicy } = session
  const { stream, redaction, output } = task
  try {
    signal.throwIfAborted()
    const state = stateOf(task, session, shared, settings)
    if (!hasScope(await client.token(), endpoints, readScopes(stream))) {
      throw notEntitled(readScopes(stream)[0], endpoints)
    }
    const pages = createPages({
      client,
      signal,
      retryPolicy,
      reader: createPageReader(stream, redaction, config.maxRecordMb, task.selection),
      waits: createWaitReport(stream.stream, output, log),
      requests: task.requests,
    })
    const suppression = createSuppression(stream, config)
    const tools = { state, pages, suppression, output, clock, parts: createListedParts(stream) }
    await readStream({
      ...tools,
      emit: createEmit(tools),
      lastDay: lastDayOf(state, config.futureDays, clock.now()),
      config,
      endpoints,
      log,
      expiredDeltas: shared.expiredDeltas,
      inventory: shared.inventories.get(task),
    })
    return undefined
  } catch (error) {
    if (error instanceof OutputClosedError) throw error
    if (signal.aborted) {
      // The rows that were read need not be read again.
      void output.checkpoint()
      throw signal.reason
    }
    return inContext(asConnectorError(error))
  }
}

async function refuseAll(
  tasks: readonly StreamTask[],
  cause: unknown,
  { signal }: RunSettings,
): Promise<Failure[]> {
  signal.throwIfAborted()
  const error = asConnectorError(cause)
  await Promise.all(tasks.map(({ output }) => output.failed(error)))
  return [{ error }]
}

function inContext(error: ConnectorError): ConnectorError {
  const isPermission = error instanceof HttpError && error.is('permission')
  if (!isPermission) return error
  return new ConnectorError(
    'config',
    'permission-missing',
    `${error.message} Ask the operator of the service for the permission, or deselect the stream.`,
    { cause: error },
  )
}
