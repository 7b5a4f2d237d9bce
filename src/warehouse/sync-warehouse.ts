import { mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ConnectorError, unknownStream } from '../ground/errors.ts'
import type { Failure, ReadTools, Source, StreamRequest, Tools } from '../protocol/connector.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import type { Column } from './column.ts'
import type { ColumnChange } from './row-encoder.ts'
import { createStreamRows, unwritable } from './stream-rows.ts'
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
  /** The DuckDB file; `<file>.sync` beside it is a folder of ours while a sync runs. */
  readonly path: string
  /** The streams to read; all of the configuration if left out. */
  readonly streams?: readonly string[] | undefined
  /** Deleted rows stay, with the time in `_deleted_at`. */
  readonly keepsDeleted: boolean
  /** Why a stream starts over, by the state that the last sync has left; throws where the file is refused. */
  readonly startOver?: (state: unknown) => Promise<StreamRequest['startOver']>
  readonly tools: Tools & Pick<ReadTools, 'observer'>
}

/** What a sync did. */
export interface WarehouseSync {
  /** Records that were committed, deletes included. */
  readonly records: number
  readonly commits: number
  readonly failures: readonly Failure[]
  /** Why it was stopped before its end, if it was. */
  readonly stopped?: unknown
}

/**
 * Reads a source into a warehouse from where it stands, and commits rows and states together as the
 * source goes. Whatever ends it, the file is the tenant as of the last commit, and the next sync
 * continues there. Throws what concerns the file itself.
 */
export async function syncWarehouse<Config>(
  settings: WarehouseSyncSettings<Config>,
): Promise<WarehouseSync> {
  const { source, config, path, streams, keepsDeleted } = settings
  const specs = chosen(source.streams(config), streams, source.unknownStreamHint)
  const folder = `${path}.sync`
  const temporary = join(folder, 'spill')
  const warehouse = await openWarehouse({ path, temporary, keepsDeleted })
  try {
    // Nobody else has the warehouse open, so a folder that is there was left behind.
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    return await read(settings, { specs, folder, warehouse })
  } finally {
    warehouse.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function chosen(
  offered: readonly StreamSpec[],
  names: readonly string[] | undefined,
  hint: string | undefined,
): readonly StreamSpec[] {
  if (names === undefined) return offered
  return [...new Set(names)].map((name) => {
    const spec = offered.find((one) => one.name === name)
    if (spec !== undefined) return spec
    const { message } = unknownStream(
      name,
      offered.map((one) => one.name),
      hint,
    )
    throw new ConnectorError('config', `${name}: ${message}`)
  })
}

interface Scene {
  readonly specs: readonly StreamSpec[]
  readonly folder: string
  readonly warehouse: Warehouse
}

async function read<Config>(
  { source, config, path, startOver, tools }: WarehouseSyncSettings<Config>,
  { specs, folder, warehouse }: Scene,
): Promise<WarehouseSync> {
  const { log } = tools
  const columns = await warehouse.prepare(specs).catch((error) => {
    throw unwritable(error)
  })
  const states = await warehouse.states()
  const starts = new Map<string, StreamRequest['startOver']>()
  for (const { name } of specs) starts.set(name, await startOver?.(states.get(name)))
  const outputs: WarehouseOutput[] = []
  const done = { records: 0, commits: 0 }
  const commits = createCommits(commitAll)
  let files = 0
  const jobs = specs.map(({ name, key, version }): StreamRequest => {
    const rows = createStreamRows({
      columns: columns.get(name) as readonly Column[],
      keys: key,
      nextPath: () => join(folder, `${++files}.rows`),
      onChange: (change) => log.warn(`${name}: ${said(change)}`),
    })
    const keys = createRisingKeys(warehouse.highestGeneration(name))
    const output = createWarehouseOutput({ stream: name, version, rows, keys, commits, log })
    outputs.push(output)
    return {
      name,
      mode: 'incremental',
      state: states.get(name),
      startOver: starts.get(name),
      output,
    }
  })
  let failures: readonly Failure[] = []
  let stopped: unknown
  try {
    failures = await source.read(config, jobs, { ...tools, refused: [] })
  } catch (error) {
    if (!tools.signal.aborted) throw error
    stopped = error
  } finally {
    // What was read need not be read again, whatever has ended it.
    await commits.now().catch(() => {})
    await commits.stop()
  }
  const { failure } = commits
  const all = failure === undefined ? failures : [{ error: failure }]
  return { ...done, failures: all, ...(stopped === undefined ? {} : { stopped }) }

  async function commitAll(): Promise<void> {
    const loads = outputs.flatMap((output) => output.take() ?? [])
    if (loads.length === 0) return
    await warehouse.commit(loads)
    const records = loads.reduce((sum, { count }) => sum + count, 0)
    done.records += records
    done.commits += 1
    const say = records === 0 ? log.debug : log.info
    say(
      `committed ${records} records to ${basename(path)}, with the states of ${loads.length} streams`,
    )
  }
}

function said({ column: { property, name }, before }: ColumnChange): string {
  return before === undefined
    ? `the new field ${property} has become the column ${name}.`
    : `${property} has a value that ${before} does not hold exactly; the column ${name} is JSON from now on.`
}
