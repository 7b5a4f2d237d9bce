import { constants, lstatSync } from 'node:fs'
import { access, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { ConnectorError, type FailureType } from '../../ground/errors.ts'
import { readOwnFile, resolvedFile, temporaryBeside } from '../../ground/private-file.ts'
import { labelText, metricText } from '../../ground/prometheus.ts'
import type {
  ProgressListener,
  StreamProgress,
  SyncOutcome,
  SyncProgress,
} from './sync-progress.ts'

export interface MetricsFacts {
  /** Undefined if the sync failed before it began. */
  readonly sync: SyncProgress | undefined
  readonly outcome: SyncOutcome
  /** When each stream was last complete before this sync: see `completionsIn`. */
  readonly completions: ReadonlyMap<LabelText, number>
  readonly prefix: string
  readonly program: string
  /** When the sync ended. */
  readonly at: Date
}

/** The labels of a metric, as they are written between the braces. */
export type LabelText = string

const LAST_COMPLETE = 'stream_last_complete_timestamp_seconds'
const FAILURES: readonly FailureType[] = ['config', 'transient', 'system']

/** The metrics of a sync in Prometheus' text format. */
export function metricsText(facts: MetricsFacts): string {
  const { sync, outcome, at } = facts
  const { failures } = outcome
  const streams = sync?.streams ?? []
  const seconds = at.getTime() / 1000
  const isWhole = failures.length === 0 && outcome.stoppedBy === undefined
  const perStream = (value: (stream: StreamProgress) => number) =>
    streams.map((stream): Sample => [{ stream: stream.name }, value(stream)])
  const ofKind = (kind: FailureType) =>
    failures.filter(({ error }) => error.failure === kind).length
  const labels = { program: facts.program, ...sync?.labels }
  const metric = writerOf(facts.prefix, labels)
  // If the sync did not begin, its tenant is unknown, so the completions of all tenants are kept.
  const own = sync === undefined ? '' : labelText(labels)
  const labelsOf = (name: string) => labelText({ ...labels, stream: name })
  const asked = new Set(streams.map(({ name }) => labelsOf(name)))
  const completions = new Map([
    // A stream that was never complete gets 0: if its metric were missing, no alert would be raised.
    ...[...asked].map((text): [string, number] => [text, 0]),
    ...[...facts.completions].filter(([text]) => text.startsWith(own)),
    ...streams
      .filter(({ status }) => status === 'complete')
      .map(({ name }): [string, number] => [labelsOf(name), seconds]),
  ])
  return [
    metric('success', '1 if the last sync read all of its streams, otherwise 0.', [
      [{}, isWhole ? 1 : 0],
    ]),
    metric('finished_timestamp_seconds', 'When the last sync ended.', [[{}, seconds]]),
    metric('duration_seconds', 'How long the last sync took.', [[{}, sync?.seconds ?? 0]]),
    metric(
      'failures',
      'Failures of the last sync by who has to act: you (config), no one (transient), the operator of the service (system).',
      FAILURES.map((kind) => [{ kind }, ofKind(kind)]),
    ),
    ...trafficMetrics(sync, metric),
    metric(
      'stream_rows',
      'Records of the last sync.',
      perStream(({ counts }) => counts.records),
    ),
    metric(
      'stream_deletes',
      'Deletes of the last sync.',
      perStream(({ counts }) => counts.deletes),
    ),
    metric(
      'stream_requests',
      'Requests of the last sync for the stream.',
      streams.flatMap(({ name, requests }): Sample[] =>
        requests === undefined ? [] : [[{ stream: name }, requests]],
      ),
    ),
    metric(
      'stream_duration_seconds',
      'How long the last sync read the stream.',
      perStream(({ seconds }) => seconds),
    ),
    metric(
      'stream_failed',
      '1 if the last sync did not read the stream completely, otherwise 0.',
      perStream(({ status }) => (status === 'complete' ? 0 : 1)),
    ),
    metric(
      'stream_withheld',
      'Rows that the last sync did not find, and did not delete because they are too many.',
      perStream(({ counts }) => counts.withheld ?? 0),
    ),
    metric(
      LAST_COMPLETE,
      'When the stream was last read completely, by any sync that wrote this file; 0 if never.',
      [...completions],
    ),
    metric(
      'stream_selected',
      '1 if the stream was selected in the last sync, otherwise 0.',
      [...completions.keys()].map((text) => [text, sync === undefined || asked.has(text) ? 1 : 0]),
    ),
  ].join('')
}

/**
 * The times at which streams were last complete, by their labels, as an earlier metrics file states them. Other lines
 * are ignored.
 */
export function completionsIn(text: string, prefix: string): Map<LabelText, number> {
  const line = new RegExp(`^${prefix}_${LAST_COMPLETE}\\{(.*stream="[^"]+")\\} (\\d+(?:\\.\\d+)?)$`)
  const found = text.split('\n').map((one) => line.exec(one))
  return new Map(found.flatMap((match) => (match ? [[String(match[1]), Number(match[2])]] : [])))
}

type Labels = Readonly<Record<string, string>>
/** Labels in addition to those of the sync, or the text of all labels. */
type Sample = readonly [labels: Labels | LabelText, value: number]
type MetricWriter = (name: string, help: string, samples: readonly Sample[]) => string

function trafficMetrics(sync: SyncProgress | undefined, metric: MetricWriter): string[] {
  if (sync === undefined) return []
  const { requests, retries, throttled, bytes } = sync.traffic
  return [
    metric('requests', 'Requests of the last sync.', [[{}, requests]]),
    metric('retries', 'Requests that were repeated.', [[{}, retries]]),
    metric('throttled', 'Throttled requests: responses with 429, or with 503 and Retry-After.', [
      [{}, throttled],
    ]),
    metric('received_bytes', 'Bytes of all responses, after decompression.', [[{}, bytes]]),
  ]
}

/**
 * Creates a function that writes metrics with the labels of the sync. All metrics are gauges, because they start
 * again with each sync.
 */
function writerOf(prefix: string, own: Labels): MetricWriter {
  return (name, help, samples) => {
    if (samples.length === 0) return ''
    const head = { name: `${prefix}_${name}`, type: 'gauge', help } as const
    return metricText(
      head,
      samples.map(([labels, value]) => [
        typeof labels === 'string' ? labels : { ...own, ...labels },
        value,
      ]),
    )
  }
}

export interface MetricsFileSettings {
  readonly path: string
  /** The prefix of all metric names. */
  readonly prefix: string
  /** The value of the label `program`. */
  readonly program: string
  readonly now?: () => Date
}

/** A metrics file in Prometheus' text format, for the textfile collector of the node exporter. */
export interface MetricsFile extends ProgressListener {
  /** Throws a config error if the file cannot be written, or is another file than one of metrics. */
  assertWritable(): Promise<void>
  /**
   * Writes the metrics of the sync in one step, so that a reader sees either the old file or the new one. The times
   * of the last completions are kept from the old file. Throws a config error.
   */
  write(): Promise<void>
}

export function createMetricsFile(settings: MetricsFileSettings): MetricsFile {
  const { path, prefix, program, now = () => new Date() } = settings
  let sync: SyncProgress | undefined
  let outcome: SyncOutcome = { failures: [] }
  return {
    finished(at, how) {
      sync = at
      outcome = how
    },
    async assertWritable() {
      const folder = dirname(resolve(path))
      await access(folder, constants.W_OK).catch((error) => {
        throw unwritable(path, error)
      })
      previousText(path, prefix)
    },
    async write() {
      const completions = completionsIn(previousText(path, prefix), prefix)
      const text = metricsText({ sync, outcome, completions, prefix, program, at: now() })
      // In the same folder, because a rename is atomic only within a file system. The collector reads only *.prom. What a killed
      // sync has left stays, because another one may be writing it.
      const partial = temporaryBeside(path)
      try {
        await writeNew(partial, text)
        await rename(partial, path)
      } catch (error) {
        await rm(partial, { force: true })
        throw unwritable(path, error)
      }
    },
  }
}

/** Metrics name no people, and the collector that reads them is another user. */
const MODE = 0o644

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', MODE)
  try {
    await file.writeFile(text)
    // Schedules have a umask that would keep the collector out.
    await file.chmod(MODE)
  } finally {
    await file.close()
  }
}

/**
 * The text of the previous file; empty if there is none. Throws a config error for a file that is neither empty nor has
 * metrics. A link of this user is replaced, and its file stays.
 */
function previousText(path: string, prefix: string): string {
  if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
    resolvedFile(path)
    return ''
  }
  const text = textOf(path)
  if (text === '' || text.startsWith(`# HELP ${prefix}_`)) return text
  throw new ConnectorError(
    'config',
    'not-metrics',
    `The file given by --metrics has no metrics of an earlier sync, so it is not replaced: ${path}. Name another file, or remove this one.`,
  )
}

function textOf(path: string): string {
  try {
    return readOwnFile(path) ?? ''
  } catch (error) {
    if (error instanceof ConnectorError) throw error
    throw unwritable(path, error)
  }
}

function unwritable(path: string, error: unknown): ConnectorError {
  const { code } = error as NodeJS.ErrnoException
  return new ConnectorError(
    'config',
    'metrics-not-writable',
    `The file given by --metrics cannot be written (${code}): ${path}. Its folder must exist and be writable.`,
    { cause: error },
  )
}
