import { ConnectorError } from '../ground/errors.ts'
import type { Failure, Log, Source, SyncFacts, SyncObserver, Tools } from '../protocol/connector.ts'
import { readStreams, type StreamReading } from '../protocol/read-run.ts'
import { type Comparison, compareStream, type Found } from './compare-stream.ts'
import type { Held, VerifiedStream } from './row-table.ts'

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
  const comparisons = new Map<string, Comparison>()
  const readings: StreamReading[] = []
  for (const stream of streams) {
    const { name } = stream
    const rows = held.get(name)
    if (rows === undefined) notVerified.set(name, 'it has no rows here')
    else if ('why' in rows) notVerified.set(name, rows.why)
    else {
      logMissingFields(name, rows.lacking, tools.log)
      const output = compareStream({ stream, held: rows, found, log: tools.log })
      const { from = null, until = null } = rows.known ?? {}
      comparisons.set(name, output)
      readings.push({
        spec: stream,
        mode: 'full_refresh',
        state: undefined,
        byLists: { from, until },
        output,
      })
    }
  }
  if (readings.length === 0) throw nothingCompared(notVerified)
  let facts: SyncFacts | undefined
  const observer: SyncObserver = {
    ...tools.observer,
    begun(told) {
      facts = told
      tools.observer.begun(told)
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
    records: [...comparisons.values()].reduce((sum, { compared }) => sum + compared, 0),
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
