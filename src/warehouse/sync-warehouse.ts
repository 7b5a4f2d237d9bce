import { basename, join } from 'node:path'
import { asConnectorError, type ConnectorError } from '../ground/errors.ts'
import { about, type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import { privately, resolvedFile } from '../ground/private-file.ts'
import { chosenStreams } from '../protocol/chosen-streams.ts'
import type { Failure, Source, StreamRequest, Tools } from '../protocol/connector.ts'
import { type ReadRunTools, readStreams, type StreamReading } from '../protocol/read-run.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import type { Column } from './column.ts'
import { FOREVER } from './history.ts'
import type { Owner } from './landing.ts'
import { engineOf } from './landings.ts'
import { createPatience } from './patience.ts'
import { createStreamRows, type StreamRows } from './stream-rows.ts'
import { removeOthers, withFolder } from './sync-folder.ts'
import { openWarehouse, type Warehouse } from './warehouse.ts'
import {
  createCommits,
  createRisingKeys,
  createWarehouseOutput,
  type WarehouseOutput,
} from './warehouse-output.ts'

export interface WarehouseSyncSettings<Config> {
  readonly source: Source<Config>
  readonly config: Config
  /** The DuckDB file; a sync creates a folder beside it while it runs. */
  readonly path: string
  /** The streams to read; by default all of the configuration. */
  readonly streams?: readonly string[] | undefined
  /** Keeps what rows were before from now on; a warehouse that keeps it already goes on. By default false. */
  readonly keepsHistory?: boolean | undefined
  /** The owner of the rows: it is checked before anything is written, for any choice of streams. */
  readonly owner: Owner
  /** Reads everything into a new file, which replaces this one when it is complete. */
  readonly rewrites?: boolean
  /** The states of the file that this one will replace: rows that only they have are missing. */
  readonly replaces?: ReadonlyMap<string, unknown>
  /** Whether this file may have objects that no sync has created, and that the new one will not have; by default false. */
  readonly dropsOthers?: boolean | undefined
  /** Whether it may lack the history of this file; by default false. */
  readonly forgetsHistory?: boolean | undefined
  /**
   * Whether that file may lack streams which this one has and the source still offers; by default true.
   */
  readonly mayLeaveOut?: boolean
  /** See `StreamRequest.startOver`; of all streams. */
  readonly startOver?: StreamRequest['startOver']
  /** How long to wait for a file that another process has open. */
  readonly waitMs?: number
  /** The path of a copy after a sync that read everything. */
  readonly publish?: string | undefined
  /** The exit code of the program after such a sync, for the file's account. */
  readonly exitCodeOf: (sync: Pick<WarehouseSync, 'failures' | 'stopped'>) => number
  /** The text of a failure in the file's account; by default its message. */
  readonly textOf?: (failure: ConnectorError) => string
  readonly now?: () => Date
  readonly tools: Tools & Pick<ReadRunTools, 'observer'>
}

/** The result of a sync. */
export interface WarehouseSync {
  /** Records that were committed, deletes included. */
  readonly records: number
  readonly commits: number
  readonly failures: readonly Failure[]
  /** Why it was stopped before its end, if it was. */
  readonly stopped?: unknown
}

/**
 * Reads a source into a warehouse, continuing where the last sync ended, and commits rows and states together
 * as the source proceeds. However it ends, the file is the tenant as of the last commit, and the next sync
 * continues there. Throws errors of the file itself.
 */
export async function syncWarehouse<Config>(
  given: WarehouseSyncSettings<Config>,
): Promise<WarehouseSync> {
  const publish = given.publish && resolvedFile(given.publish)
  const settings = { ...given, path: resolvedFile(given.path), publish }
  // DuckDB makes files beside the warehouse, too.
  return privately(() => (settings.rewrites === true ? rewrite(settings) : syncFile(settings)))
}

async function rewrite<Config>(settings: WarehouseSyncSettings<Config>): Promise<WarehouseSync> {
  const { source, config, streams, publish } = settings
  const { path, owner, waitMs = 0, tools } = settings
  // Whoever names a stream that does not exist has not begun anything.
  chosenStreams(source, config, streams)
  const patience = createPatience(waitMs, tools)
  if (publish !== undefined) await engineOf(path).assertPublishable(path, publish, owner, patience)
  const { dropsOthers = false, forgetsHistory = false } = settings
  const rules = { kept: keptBy(settings), dropsOthers, forgetsHistory }
  const replacement = await engineOf(path).rewrite(path, owner, patience, rules)
  const { address, states: replaces, history } = replacement
  const done = await syncFile({ ...settings, path: address, replaces }, history)
  const isComplete = done.failures.length === 0 && done.stopped === undefined
  if (isComplete) await replacement.takePlace()
  else
    tools.log.warn(
      warningOf(
        'rewrite-not-complete',
        `${replacement.meanwhile}: not everything could be read. The next sync with --rewrite continues.`,
      ),
    )
  return done
}

/** The streams that a new file must have. */
function keptBy<Config>({
  source,
  config,
  streams,
  mayLeaveOut = true,
}: WarehouseSyncSettings<Config>): string[] {
  const named = new Set(streams)
  if (mayLeaveOut || streams === undefined) return []
  return source
    .streams(config)
    .map(({ name }) => name)
    .filter((name) => !named.has(name))
}

/** `history` is how long the warehouse keeps closed versions, if another one did. */
async function syncFile<Config>(
  settings: WarehouseSyncSettings<Config>,
  history?: string,
): Promise<WarehouseSync> {
  const { source, config, path, streams, owner, waitMs = 0, publish, rewrites, tools } = settings
  const specs = chosenStreams(source, config, streams)
  const engine = engineOf(path)
  const patience = createPatience(waitMs, tools)
  // A copy of the file that this one replaces has nothing of this one.
  if (publish !== undefined && settings.replaces === undefined)
    await engine.assertPublishable(path, publish, owner, patience)
  const { log } = tools
  return withFolder(path, engine.folderOf(path), async (folder) => {
    const warehouse = await openWarehouse({
      ...{ path, folder, owner, patience, publish, rewrites, log },
      history: history ?? (settings.keepsHistory === true ? FOREVER : undefined),
    })
    try {
      removeOthers(engine.folderOf(path), folder)
      return await sync(settings, { specs, folder, warehouse })
    } finally {
      await warehouse.close()
    }
  })
}

interface Scene {
  readonly specs: readonly StreamSpec[]
  readonly folder: string
  readonly warehouse: Warehouse
}

async function sync<Config>(
  settings: WarehouseSyncSettings<Config>,
  scene: Scene,
): Promise<WarehouseSync> {
  const { publish, exitCodeOf, tools, now = () => new Date() } = settings
  const { textOf = ({ message }: ConnectorError) => message } = settings
  const { specs, warehouse } = scene
  const { isUnwritable, ...done } = await read(settings, scene, await open(scene, now()), now)
  // A file that cannot be written cannot record the failure.
  if (isUnwritable) return done
  const failures = specs.flatMap(({ name }) => {
    const failure = done.failures.find(({ stream = name }) => stream === name)
    if (failure === undefined) return []
    const { id } = failure.error
    return [[name, { id, message: tools.mask.text(textOf(failure.error)) }] as const]
  })
  const exit = exitCodeOf(done)
  const { records } = done
  await warehouse.finish({ at: now(), exit, records, failures: new Map(failures) })
  if (publish === undefined || exit !== 0) return done
  return warehouse.publish(publish).then(
    () => done,
    (error) => ({ ...done, failures: [{ error: asConnectorError(error) }] }),
  )
}

/** What the warehouse has of the streams when a sync begins. */
interface Opened {
  readonly columns: ReadonlyMap<string, readonly Column[]>
  readonly states: ReadonlyMap<string, unknown>
  readonly startOver: ReadonlySet<string>
}

async function open({ specs, warehouse }: Scene, at: Date): Promise<Opened> {
  return {
    columns: await warehouse.prepare(specs, at),
    states: await warehouse.states(),
    startOver: await warehouse.streamsToStartOver(),
  }
}

interface Reading extends WarehouseSync {
  readonly isUnwritable: boolean
}

async function read<Config>(
  { source, config, path, startOver: asked, replaces, tools }: WarehouseSyncSettings<Config>,
  { specs, folder, warehouse }: Scene,
  { columns, states, startOver }: Opened,
  now: () => Date,
): Promise<Reading> {
  const { log } = tools
  const streams = new Map<string, { readonly output: WarehouseOutput; readonly rows: StreamRows }>()
  const readings: StreamReading[] = []
  const uncommitted = new Map<string, ConnectorError>()
  const done = { records: 0, commits: 0 }
  const commits = createCommits(commitAll)
  let files = 0
  let failures: readonly Failure[] = []
  let stopped: unknown
  try {
    for (const spec of specs) {
      const { name } = spec
      const rows = createStreamRows({
        sql: warehouse.sql,
        columns: columns.get(name) ?? [],
        others: warehouse.othersIn(name),
        nextPath: () => join(folder, `${++files}.rows`),
        onAdded(column) {
          if (column.variantOf === undefined)
            log.info(`${name}: a new field of the service has become the column ${column.name}.`)
        },
      })
      const keys = createRisingKeys(warehouse.highestGeneration(name))
      const output = createWarehouseOutput({ stream: name, rows, keys, commits, now })
      streams.set(name, { output, rows })
      const state = states.get(name) ?? replaces?.get(name)
      const startsOver = state !== undefined && (startOver.has(name) || !states.has(name))
      readings.push({
        ...{ spec, mode: 'incremental', writer: output, state },
        startOver: startsOver ? 'full refresh' : asked,
      })
    }
    failures = await readStreams(source, config, readings, { ...tools, refused: [] })
  } catch (error) {
    if (tools.signal.aborted) stopped = error
    else failures = [{ error: asConnectorError(error) }]
  } finally {
    // The rows that were read need not be read again, however the sync ended.
    await commits.now().catch(() => {})
    await commits.stop()
  }
  for (const [name, { rows }] of streams)
    for (const warning of misfitsIn(rows)) log.warn(about(name, warning))
  return {
    ...done,
    failures: allFailures(failures, uncommitted, commits.failure),
    isUnwritable: commits.failure !== undefined,
    ...(stopped === undefined ? {} : { stopped }),
  }

  async function commitAll(): Promise<void> {
    const loads = [...streams.values()].flatMap(({ output }) => output.take() ?? [])
    if (loads.length === 0) return
    const refused = await warehouse.commit(loads, now())
    for (const [stream, error] of refused) {
      uncommitted.set(stream, error)
      streams.get(stream)?.output.fail(error)
    }
    const loaded = loads.filter(({ stream }) => !refused.has(stream))
    const records = loaded.reduce((sum, { count }) => sum + count, 0)
    done.records += records
    done.commits += 1
    const say = records === 0 ? log.debug : log.info
    say(
      `committed ${records} records to ${basename(path).replace(/\?.*/, '')}, with the states of ${loaded.length} streams`,
    )
  }
}

/**
 * A failure of the file is a failure of all streams; a stream that was not committed has failed, even if it
 * was read.
 */
function allFailures(
  read: readonly Failure[],
  uncommitted: ReadonlyMap<string, ConnectorError>,
  ofFile: ConnectorError | undefined,
): readonly Failure[] {
  if (ofFile !== undefined) return [{ error: ofFile }]
  const others = read.filter(({ stream }) => stream === undefined || !uncommitted.has(stream))
  return [...others, ...[...uncommitted].map(([stream, error]) => ({ stream, error }))]
}

/** A warning for each column that could not store all of its values. */
function misfitsIn({ columns, misfits }: StreamRows): IdentifiedMessage[] {
  return [...misfits].flatMap(([{ name, type }, count]) => {
    const variant = columns.find(({ variantOf }) => variantOf === name)
    if (variant === undefined) return []
    const records = count === 1 ? '1 record' : `${count} records`
    return [
      warningOf(
        'value-of-another-type',
        `${name} is not a valid ${type} in ${records}: there it is null, and ${variant.name} has the original value.`,
      ),
    ]
  })
}
