import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import { CheckedOutput, type OutputSpec } from './checked-output.ts'
import type {
  Failure,
  ReadTools,
  Source,
  StreamRequest,
  StreamStart,
  SyncFacts,
  Tools,
} from './connector.ts'
import { createSyncProgress, PROGRESS_CLOCK, type SyncObserver } from './progress/sync-progress.ts'
import type { StreamWriter } from './stream-writer.ts'

/** A stream to read, with the specification from its source. */
export interface StreamReading extends Omit<StreamRequest, 'name' | 'output'> {
  readonly spec: OutputSpec & Pick<StreamSpec, 'isIncremental'>
  readonly writer: StreamWriter
}

/** What `readStreams` needs beside the streams. */
export interface ReadRunTools extends Tools, Pick<ReadTools, 'refused' | 'keptStates'> {
  /** Gets the progress of the sync. */
  readonly observer?: SyncObserver
}

/**
 * Reads streams, and checks how the source uses their outputs. Whatever the source does, each stream ends, and each
 * incomplete one has a failure in the result. Throws only if the sync was stopped.
 */
export async function readStreams<Config>(
  source: Source<Config>,
  config: Config,
  readings: readonly StreamReading[],
  tools: ReadRunTools,
): Promise<readonly Failure[]> {
  if (readings.length === 0) return []
  const { observer = createSyncProgress([], PROGRESS_CLOCK).observer, ...rest } = tools
  const { log, signal } = tools
  const wanted = readings.map(({ spec, mode, state, writer, ...reading }) => {
    const { name, isIncremental = false } = spec
    const continued = isIncremental
      ? { mode, state }
      : ({ mode: 'full_refresh', state: undefined } as const)
    return { ...reading, spec, name, writer, ...continued }
  })
  const starts = new Map(wanted.map((stream) => [stream.name, startOf(stream)]))
  let isBegun = false
  const outputs = wanted.map(({ spec, writer }) => {
    return new CheckedOutput(spec, { writer, log, started, ended: observer.ended })
  })
  const requests = wanted.map(({ spec: _, writer: __, ...request }, i): StreamRequest => {
    return { ...request, output: outputs[i] as CheckedOutput }
  })
  const progress = { begun, planned }
  const thrown = await source.read(config, requests, { ...rest, progress }).then(
    () => undefined,
    (error) => ({ error }),
  )
  const unfinished = outputs.filter(({ isEnded }) => !isEnded)
  // If the sync was stopped, the next one continues from the states; nobody reads further messages.
  if (signal.aborted && (thrown !== undefined || unfinished.length > 0))
    throw thrown?.error ?? signal.reason
  const ofAll = thrown && asConnectorError(thrown.error)
  await Promise.all(unfinished.map((output) => output.failed(ofAll ?? notEnded())))
  const failures = outputs.flatMap(({ name: stream, failure: error }) =>
    error === undefined || error === ofAll ? [] : [{ stream, error }],
  )
  return ofAll === undefined ? failures : [{ error: ofAll }, ...failures]

  function begun(facts: SyncFacts): void {
    isBegun = true
    observer.begun(facts, outputs)
  }

  function planned(planned: ReadonlyMap<string, StreamStart>): void {
    for (const [name, start] of planned) starts.set(name, start)
    observer.planned(planned)
  }

  function started(name: string, start = starts.get(name)): void {
    if (!isBegun) begun(NO_FACTS)
    if (start !== undefined) observer.started(name, start)
  }
}

/** The facts about a sync whose source reports none. */
const NO_FACTS: SyncFacts = {
  subject: '',
  labels: {},
  traffic: { requests: 0, retries: 0, throttled: 0, bytes: 0, responseMs: 0 },
  retryCause: () => undefined,
}

function startOf({ mode, state }: Pick<StreamRequest, 'mode' | 'state'>): StreamStart {
  if (mode === 'full_refresh') return { kind: 'whole', how: 'full refresh' }
  return state === undefined
    ? { kind: 'begins', how: 'from the beginning: first sync' }
    : { kind: 'changes', how: 'incremental' }
}

function notEnded(): ConnectorError {
  return new ConnectorError(
    'system',
    'stream-not-ended',
    'The connector ended without saying that it has read the whole stream, so the stream counts as incomplete. This is a fault of the connector: report it.',
  )
}
