import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CatalogStream } from '../../scripts/demo/columns.ts'
import { type Checkpoints, createCheckpoints, type Message } from './checkpoints.ts'
import { type Failure, SyncError } from './failure.ts'
import { configuredCatalog, discover, failuresOf, type Source, startSource } from './source.ts'
import { openWarehouse, type Warehouse } from './warehouse.ts'

/** A sync keeps no more than this for the next commit. */
const COMMIT_BYTES = 32 * 1024 * 1024
/** A kill costs no more than what was read in this time. */
const COMMIT_MS = 5_000

export interface SyncSettings {
  /** The tenant's configuration. Its member `_streams` names the streams to read; left out: all. */
  readonly config: string
  /** The tenant's DuckDB file. `<file>.sync` beside it is a folder of ours while a sync runs. */
  readonly warehouse: string
  /** The program that reads: `source-protime`. */
  readonly source: string
  readonly say: (line: string) => void
  /** Aborted, the sync commits what it may and ends. */
  readonly signal: AbortSignal
}

/** What a sync did. */
export interface SyncResult {
  /** Records that were committed, deletions included. */
  readonly records: number
  readonly commits: number
  readonly failures: readonly Failure[]
}

/**
 * Reads one tenant from where its warehouse stands, and commits records and states together as the
 * source goes. Whatever ends it, the next sync continues from the last commit.
 */
export async function syncTenant(settings: SyncSettings): Promise<SyncResult> {
  const chosen = chosenStreams(settings.config)
  const folder = `${settings.warehouse}.sync`
  const warehouse = await openWarehouse(settings.warehouse, join(folder, 'spill'))
  try {
    // Nobody else has the warehouse open, so that a folder that is there was left behind.
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    const offered = await discover(settings.source, settings.config)
    const streams = chosen === undefined ? offered : pick(chosen, offered)
    await warehouse.prepare(streams)
    return await read(settings, { folder, streams, warehouse })
  } finally {
    warehouse.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function chosenStreams(file: string): readonly string[] | undefined {
  try {
    const { _streams: names } = JSON.parse(readFileSync(file, 'utf8')) as { _streams?: unknown }
    if (names === undefined) return undefined
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
    throw new Error('_streams must be a list of names')
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    throw new SyncError('config', `The configuration ${file} cannot be used: ${text}`)
  }
}

function pick(names: readonly string[], offered: readonly CatalogStream[]): CatalogStream[] {
  return names.map((name) => {
    const stream = offered.find((one) => one.name === name)
    if (stream === undefined)
      throw new SyncError('config', `_streams names ${name}, which is no stream of this tenant`)
    return stream
  })
}

interface Loading {
  readonly folder: string
  readonly streams: readonly CatalogStream[]
  readonly warehouse: Warehouse
}

async function read(
  { config, warehouse: target, source: program, say, signal }: SyncSettings,
  { folder, streams, warehouse }: Loading,
): Promise<SyncResult> {
  const file = (name: string, content: unknown) => {
    writeFileSync(join(folder, name), JSON.stringify(content))
    return join(folder, name)
  }
  const states = await warehouse.states()
  const args = ['--config', config, '--catalog', file('catalog.json', configuredCatalog(streams))]
  if (states.length > 0) args.push('--state', file('state.json', states))

  const failures: Failure[] = []
  const done = { records: 0, commits: 0 }
  const checkpoints = createCheckpoints({
    folder,
    onMessage(message) {
      failures.push(...failuresOf(message))
      for (const line of logOf(message)) say(line)
    },
  })
  const commit = async () => {
    const checkpoint = checkpoints.take()
    if (checkpoint === undefined) return
    await warehouse.commit(checkpoint)
    for (const path of [...checkpoint.files.values()].flat()) rmSync(path)
    done.records += checkpoint.records
    done.commits += 1
    say(
      `INFO committed ${checkpoint.records} records to ${basename(target)}, with the states of ${checkpoint.states.size} streams`,
    )
  }

  const source = startSource(program, ['read', ...args])
  signal.addEventListener('abort', source.stop, { once: true })
  if (signal.aborted) source.stop()
  try {
    await follow(source, checkpoints, commit)
    const code = await source.ended
    await commit()
    if (code !== 0 && failures.length === 0)
      failures.push({ type: 'transient', message: `${program} read ended with ${code}` })
    if (code === 0) failures.push(...checkpoints.unfinished().map(withoutState))
    return { ...done, failures }
  } finally {
    signal.removeEventListener('abort', source.stop)
    source.stop()
  }
}

/** Takes the source's output, and commits when enough has come or enough time has passed. */
async function follow(
  { stdout }: Source,
  checkpoints: Checkpoints,
  commit: () => Promise<void>,
): Promise<void> {
  const chunks = stdout[Symbol.asyncIterator]()
  let committedAt = performance.now()
  for (let next = chunks.next(); ; ) {
    const wait = new AbortController()
    // A source that waits for the service is silent for long.
    const silence = sleep(COMMIT_MS, undefined, { signal: wait.signal }).catch(() => undefined)
    const result = await Promise.race([next, silence])
    wait.abort()
    if (result?.done === true) return
    if (result !== undefined) {
      checkpoints.write(result.value)
      next = chunks.next()
    }
    const isLate = performance.now() - committedAt >= COMMIT_MS
    if (!isLate && checkpoints.bytes() < COMMIT_BYTES) continue
    await commit()
    committedAt = performance.now()
  }
}

function withoutState(stream: string): Failure {
  return { type: 'system', stream, message: `${stream} ended with records, but without a STATE` }
}

function logOf({ log }: Message): string[] {
  if (log === undefined) return []
  const { level, message } = log as { level: string; message: string }
  return [`${level} ${message}`]
}
