import { ConnectorError } from '../ground/errors.ts'
import type { Failure, Log, Source, SyncFacts, Tools } from '../protocol/connector.ts'
import {
  type CountedStream,
  type SyncObserver,
  totalOf,
} from '../protocol/progress/sync-progress.ts'
import { readStreams, type StreamReading } from '../protocol/read-run.ts'
import { type Comparison, compareStream, type Difference, type Found } from './compare-stream.ts'
import type { RowKey } from './digests.ts'
import { type Held, RowTable, type VerifiedStream } from './row-table.ts'

export interface VerifySettings<Config> {
  readonly source: Source<Config>
  readonly config: Config
  readonly streams: readonly VerifiedStream[]
  readonly held: Held
  readonly found: Found
  readonly tools: Tools & { readonly observer: SyncObserver }
}

/** The result of a comparison. */
export interface Verified {
  /** The number of compared records of the service. */
  readonly records: number
  /** See `Comparison.withheldRows`. */
  readonly withheld: number
  /** The streams that could not be compared, and why. */
  readonly notVerified: ReadonlyMap<string, string>
  readonly failures: readonly Failure[]
  readonly requests: number
  readonly bytes: number
}

/**
 * Compares the rows of a warehouse with the service. It requests only lists: no delta is started or continued. Throws
 * if the process has to stop.
 */
export async function verify<Config>(settings: VerifySettings<Config>): Promise<Verified> {
  const { source, config, streams, held, found, tools } = settings
  const notVerified = new Map<string, string>()
  const readings: StreamReading[] = []
  const comparisons: Comparison[] = []
  for (const stream of streams) {
    const { name } = stream
    const rows = held.get(name)
    if (rows === undefined) notVerified.set(name, 'it has no rows here')
    else if ('why' in rows) notVerified.set(name, rows.why)
    else {
      logMissingFields(name, rows.lacking, tools.log)
      const writer = compareStream({ stream, held: rows, found, log: tools.log })
      comparisons.push(writer)
      const { from = null, until = null } = rows.known ?? {}
      readings.push({
        spec: stream,
        mode: 'full_refresh',
        state: undefined,
        byLists: { from, until },
        writer,
      })
    }
  }
  if (readings.length === 0) throw nothingCompared(notVerified)
  let facts: SyncFacts | undefined
  let counted: readonly CountedStream[] = []
  const observer: SyncObserver = {
    ...tools.observer,
    begun(told, streams) {
      facts = told
      counted = streams
      tools.observer.begun(told, streams)
    },
  }
  const failed = await readStreams(source, config, readings, {
    ...tools,
    // These messages describe a sync, so they are logged only at the level debug.
    log: { ...tools.log, info: tools.log.debug },
    observer,
    refused: [],
  })
  for (const { stream, error } of failed)
    if (stream !== undefined && error.id === 'no-list') notVerified.set(stream, error.message)
  if (notVerified.size === streams.length) throw nothingCompared(notVerified)
  const { requests: asked = 0, bytes = 0 } = facts?.traffic ?? {}
  return {
    records: totalOf(counted).records,
    withheld: comparisons.reduce((sum, { withheldRows }) => sum + withheldRows, 0),
    notVerified,
    failures: failed.filter(({ error }) => error.id !== 'no-list'),
    requests: asked,
    bytes,
  }
}

/** The error if no stream was compared, because that must not look like no difference. */
function nothingCompared(reasons: ReadonlyMap<string, string>): ConnectorError {
  const [reason = 'no stream is named'] = reasons.values()
  return new ConnectorError(
    'config',
    'nothing-compared',
    `No stream could be compared: ${reason}. Sync first, or give rows with --rows.`,
  )
}

function logMissingFields(stream: string, fields: readonly string[], log: Log): void {
  if (fields.length === 0) return
  log.info(`${stream}: not compared, because no row has them: ${fields.join(', ')}.`)
}

/**
 * A listing with failures may have left out a row, and a row may appear and disappear during it, so two comparisons
 * are made.
 */
const MOST_LOOKS = 2

export interface BetweenSyncsSettings {
  readonly streams: readonly VerifiedStream[]
  /** Brings the warehouse up to date; returns the failures. */
  readonly sync: () => Promise<readonly Failure[]>
  /** Reads the rows of these streams from the warehouse, or only the wanted ones. */
  readonly read: (
    streams: readonly VerifiedStream[],
    isWanted?: (stream: string, key: RowKey) => boolean,
  ) => Promise<Held>
  /** Compares these rows with a listing: see `verify`. */
  readonly compare: (
    streams: readonly VerifiedStream[],
    held: Held,
    found: Found,
  ) => Promise<Verified>
}

/** The result of the comparisons between syncs. */
export interface VerifiedBetweenSyncs extends Verified {
  readonly differences: readonly Difference[]
  /** The number of differences that the sync after a comparison explained. */
  readonly explained: number
}

interface Row {
  readonly key: RowKey
  readonly difference: Difference
}

/**
 * Compares a warehouse with a service whose records change: a sync, a listing, a sync. The service has reported no
 * change of a row that the second sync left unchanged, so the listing must have the same values as the warehouse.
 * Rows that differ are compared a second time in the same way, and are reported if they differ again.
 */
export async function verifyBetweenSyncs(
  settings: BetweenSyncsSettings,
): Promise<VerifiedBetweenSyncs> {
  const { sync, read, compare } = settings
  let { streams } = settings
  let rows: readonly Row[] | undefined
  let explained = 0
  let first: Verified | undefined
  let [requests, bytes] = [0, 0]
  let failures = await sync()
  for (let look = 0; look < MOST_LOOKS && failures.length === 0; look++) {
    const before = await read(streams)
    const { found, take } = createFindings(rows)
    const verified = await compare(streams, before, take)
    first ??= verified
    requests += verified.requests
    bytes += verified.bytes
    failures = [...verified.failures, ...(await sync())]
    const after = await read(
      streams.filter(({ name }) => found.has(name)),
      (stream, key) => found.get(stream)?.has(key) === true,
    )
    const all = [...found].flatMap(([stream, ofStream]) =>
      [...ofStream.values()].map((row) => ({ stream, row })),
    )
    const left = all.filter(({ stream, row }) => isSame(stream, row.key, before, after))
    explained += all.length - left.length
    rows = left.map(({ row }) => row)
    if (rows.length === 0) break
    const named = new Set(left.map(({ stream }) => stream))
    streams = streams.filter(({ name }) => named.has(name))
  }
  const nothing = { records: 0, withheld: 0, notVerified: new Map<string, string>() }
  return {
    ...(first ?? nothing),
    failures,
    requests,
    bytes,
    explained,
    differences: (rows ?? []).map(({ difference: { pending: _, ...real } }) => real),
  }
}

/** Collects differences by stream and key; after an earlier comparison, only those of the same rows. */
function createFindings(earlier: readonly Row[] | undefined) {
  const places = earlier && new Set(earlier.map(placeOf))
  const found = new Map<string, Map<RowKey, Row>>()
  const take: Found = (difference, key) => {
    const row = { key, difference }
    if (places !== undefined && !places.has(placeOf(row))) return undefined
    const ofStream = found.get(difference.stream) ?? new Map<RowKey, Row>()
    found.set(difference.stream, ofStream.set(key, row))
    return undefined
  }
  return { found, take }
}

function placeOf({ key, difference }: Row): string {
  return JSON.stringify([difference.stream, key])
}

/** Whether the sync left a row unchanged. */
function isSame(stream: string, key: RowKey, before: Held, after: Held): boolean {
  return tableOf(before, stream).hasSame(key, tableOf(after, stream))
}

function tableOf(held: Held, stream: string): RowTable {
  const rows = held.get(stream)
  return rows !== undefined && 'table' in rows ? rows.table : new RowTable()
}
