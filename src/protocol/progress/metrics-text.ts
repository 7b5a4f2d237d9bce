import type { FailureType } from '../errors.ts'
import type { StreamProgress, SyncOutcome, SyncProgress } from './sync-progress.ts'

export interface MetricsFacts {
  /** Undefined for a sync that failed before it began. */
  readonly sync: SyncProgress | undefined
  readonly outcome: SyncOutcome
  /** When each stream was complete before this sync, see `completionsIn`. */
  readonly completions: ReadonlyMap<LabelText, number>
  readonly prefix: string
  readonly program: string
  /** When the sync ended. */
  readonly at: Date
}

/** Labels as they stand between the braces. */
export type LabelText = string

const LAST_COMPLETE = 'stream_last_complete_timestamp_seconds'
const FAILURES: readonly FailureType[] = ['config', 'transient', 'system']

/** How a sync went, in Prometheus' text format. */
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
  // Where the sync did not begin, nobody knows what it would have read.
  const own = sync === undefined ? '' : labelText(labels)
  const completions = new Map([
    ...[...facts.completions].filter(([text]) => text.startsWith(own)),
    ...streams
      .filter(({ status }) => status === 'complete')
      .map(({ name }): [string, number] => [labelText({ ...labels, stream: name }), seconds]),
  ])
  return [
    metric('success', '1 when the last sync read all of its streams, else 0.', [
      [{}, isWhole ? 1 : 0],
    ]),
    metric('finished_timestamp_seconds', 'When the last sync ended.', [[{}, seconds]]),
    metric('duration_seconds', 'How long the last sync took.', [[{}, sync?.seconds ?? 0]]),
    metric(
      'failures',
      'What failed in the last sync, by who has to act: config the operator, transient nobody, system the vendor.',
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
      'stream_duration_seconds',
      'How long the last sync read the stream.',
      perStream(({ seconds }) => seconds),
    ),
    metric(
      'stream_failed',
      '1 when the last sync did not read the stream to its end, else 0.',
      perStream(({ status }) => (status === 'complete' ? 0 : 1)),
    ),
    metric(
      LAST_COMPLETE,
      'When the stream was last read to its end, by any sync that wrote this file.',
      [...completions],
    ),
  ].join('')
}

/** When each stream was complete last, as an earlier file says, by its labels; nothing for any other text. */
export function completionsIn(text: string, prefix: string): Map<LabelText, number> {
  const line = new RegExp(`^${prefix}_${LAST_COMPLETE}\\{(.*stream="[^"]+")\\} (\\d+(?:\\.\\d+)?)$`)
  const found = text.split('\n').map((one) => line.exec(one))
  return new Map(found.flatMap((match) => (match ? [[String(match[1]), Number(match[2])]] : [])))
}

type Labels = Readonly<Record<string, string>>
/** Labels beside those of the sync, or the text of all of them. */
type Sample = readonly [labels: Labels | LabelText, value: number]
type MetricWriter = (name: string, help: string, samples: readonly Sample[]) => string

function trafficMetrics(sync: SyncProgress | undefined, metric: MetricWriter): string[] {
  if (sync === undefined) return []
  const { requests, retries, refusals, bytes } = sync.traffic
  return [
    metric('requests', 'Requests of the last sync.', [[{}, requests]]),
    metric('retries', 'Requests that were repeated.', [[{}, retries]]),
    metric('refusals', 'Answers by which the service asked for fewer requests.', [[{}, refusals]]),
    metric('received_bytes', 'Bytes of all answers, after decompression.', [[{}, bytes]]),
  ]
}

/** Writes a metric with the labels of the sync. All are gauges: they are of one sync and start anew with it. */
function writerOf(prefix: string, own: Labels): MetricWriter {
  return (name, help, samples) => {
    if (samples.length === 0) return ''
    const full = `${prefix}_${name}`
    const lines = samples.map(([labels, value]) => {
      const text = typeof labels === 'string' ? labels : labelText({ ...own, ...labels })
      return `${full}{${text}} ${value}\n`
    })
    return `# HELP ${full} ${help}\n# TYPE ${full} gauge\n${lines.join('')}`
  }
}

function labelText(labels: Labels): LabelText {
  return Object.entries(labels)
    .map(([label, text]) => `${label}="${escaped(text)}"`)
    .join(',')
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
