import { asConnectorError, ConnectorError } from '../ground/errors.ts'
import { type RecordBatch, SKIP, UPSERT } from '../records/record-batch.ts'
import type { StreamSpec } from '../records/stream-spec.ts'
import type {
  Failure,
  KeyMembers,
  ReadTools,
  RowCounts,
  Source,
  Stamp,
  StateSource,
  StreamOutput,
  StreamRequest,
  StreamStart,
  SyncObserver,
} from './connector.ts'
import { MOST_GENERATION } from './sync-columns.ts'

/** A stream to read, with the specification from its source. */
export interface StreamReading extends Omit<StreamRequest, 'name'> {
  readonly spec: Pick<
    StreamSpec,
    'name' | 'key' | 'isIncremental' | 'hasDeletes' | 'hasGenerations'
  >
}

/**
 * Reads streams, and checks how the source uses their outputs. Whatever the source does, each stream ends, and each
 * incomplete one has a failure in the result. Rethrows what the source throws, after all streams have ended.
 */
export async function readStreams<Config>(
  source: Source<Config>,
  config: Config,
  readings: readonly StreamReading[],
  tools: ReadTools,
): Promise<readonly Failure[]> {
  if (readings.length === 0) return []
  const wanted = readings.map(({ spec, mode, state, ...reading }) => {
    const { name, isIncremental = false } = spec
    const continued = isIncremental
      ? { mode, state }
      : ({ mode: 'full_refresh', state: undefined } as const)
    return { ...reading, spec, name, ...continued }
  })
  const progress = tools.observer && createDerivedProgress(tools.observer, wanted)
  const outputs = wanted.map(({ spec, output }) => new CheckedOutput(spec, output, progress))
  const requests = wanted.map(({ spec: _, ...request }, i): StreamRequest => {
    return { ...request, output: outputs[i] ?? request.output }
  })
  try {
    const failures = await source.read(config, requests, {
      ...tools,
      ...(progress && { observer: progress.observer }),
    })
    const unfinished = outputs.filter(({ isComplete }) => !isComplete)
    if (unfinished.length > 0) tools.signal.throwIfAborted()
    const all = [...failures, ...unfinished.flatMap((output) => failureOf(output, failures))]
    for (const { name } of unfinished)
      progress?.ended(name, all.find(({ stream = name }) => stream === name)?.error)
    return all
  } catch (error) {
    if (!tools.signal.aborted)
      for (const { name } of outputs) progress?.ended(name, asConnectorError(error))
    throw error
  } finally {
    // If the sync was stopped, the next one continues from the states; nobody reads further messages.
    if (!tools.signal.aborted) for (const output of outputs) output.end()
  }
}

/** The failure of an incomplete stream, unless the source has reported one. */
function failureOf({ name, fault }: CheckedOutput, told: readonly Failure[]): Failure[] {
  if (told.some(({ stream = name }) => stream === name)) return []
  const error =
    fault ??
    new ConnectorError(
      'system',
      'stream-not-ended',
      'The connector ended without saying that it has read the whole stream, so the stream counts as incomplete. This is a fault of the connector: report it.',
    )
  return [{ stream: name, error }]
}

/** Checks the calls of a source, and passes the valid ones on. */
class CheckedOutput implements StreamOutput {
  readonly counts: StreamOutput['counts']
  readonly selection: StreamOutput['selection']
  readonly #spec: StreamReading['spec']
  readonly #output: StreamOutput
  readonly #progress: DerivedProgress | undefined
  #phase: 'queued' | 'open' | 'complete' | 'incomplete' = 'queued'
  /** Set at the first invalid call. After that no call is passed on, and the stream cannot be complete. */
  fault: ConnectorError | undefined

  constructor(
    spec: StreamReading['spec'],
    output: StreamOutput,
    progress: DerivedProgress | undefined,
  ) {
    this.#spec = spec
    this.#output = output
    this.#progress = progress
    this.counts = output.counts
    this.selection = output.selection
  }

  get name(): string {
    return this.#spec.name
  }

  get isComplete(): boolean {
    return this.#phase === 'complete'
  }

  /** Ends a stream that its source has not ended. */
  end(): void {
    if (this.#phase === 'complete' || this.#phase === 'incomplete') return
    this.#output.started()
    this.incomplete()
  }

  started(state?: StateSource): void {
    if (this.#phase === 'queued') this.#phase = 'open'
    this.#progress?.started(this.name)
    this.#output.started(state)
  }

  running(): void {
    this.#assertOpen()
    this.#output.running()
  }

  rateLimited(until: Date): void {
    this.#output.rateLimited(until)
  }

  waiting(): void {
    this.#output.waiting()
  }

  records(batch: RecordBatch, stamp: Stamp): Promise<void> | undefined {
    this.#assertOpen()
    this.#assertStamp(stamp)
    // A hand-made batch has no `fault`.
    if (batch.fault !== null) this.#refuse(batch.fault ?? 'its batch is of an unknown kind')
    const { members } = batch
    const missing = members && this.#spec.key.find((name) => !members.has(name))
    if (missing !== undefined) this.#refuse(`a record has no ${missing}, which is its key`)
    if (!this.#spec.hasDeletes && batch.ops.some((op) => op !== UPSERT && op !== SKIP))
      this.#refuse('it has deletes, and its specification does not say so (hasDeletes)')
    return this.#output.records(batch, stamp)
  }

  deletes(rows: readonly KeyMembers[], stamp: Stamp): Promise<void> | undefined {
    this.#assertOpen()
    this.#assertStamp(stamp)
    if (!this.#spec.hasDeletes)
      this.#refuse('it has deletes, and its specification does not say so (hasDeletes)')
    if (!rows.every(isKey))
      this.#refuse('a deleted row is not given by the JSON of its key, as "id":7')
    return this.#output.deletes(rows, stamp)
  }

  checkpoint(): Promise<void> | undefined {
    return this.#output.checkpoint()
  }

  state(): Promise<void> {
    return this.#output.state()
  }

  flush(): Promise<void> {
    return this.#output.flush()
  }

  generationComplete(generation: number): void {
    this.#assertOpen()
    if (!this.#spec.hasGenerations)
      this.#refuse('a generation is complete, and its specification has none (hasGenerations)')
    this.#output.generationComplete(generation)
  }

  complete(): Promise<void> | undefined {
    this.#assertOpen()
    this.#phase = 'complete'
    this.#progress?.ended(this.name)
    return this.#output.complete()
  }

  incomplete(): void {
    this.#phase = 'incomplete'
    this.#output.incomplete()
  }

  untracked(): void {
    this.#output.untracked()
  }

  withheld(rows: number): void {
    this.#output.withheld?.(rows)
  }

  left(field: string, day: string): void {
    this.#output.left?.(field, day)
  }

  onRecord(listener: () => void): void {
    this.#output.onRecord(listener)
  }

  #assertOpen(): void {
    if (this.fault !== undefined) throw this.fault
    if (this.#phase === 'queued') this.#refuse('it has not been started')
    if (this.#phase !== 'open') this.#refuse('it has ended already')
  }

  #assertStamp({ generation, cursor, now }: Stamp): void {
    if (!Number.isInteger(generation) || generation < 1 || generation > MOST_GENERATION)
      this.#refuse(`its generation ${generation} is not an integer from 1 to ${MOST_GENERATION}`)
    if (!Number.isSafeInteger(cursor) || cursor < 0)
      this.#refuse(`its cursor ${cursor} is not an integer from 0 to ${Number.MAX_SAFE_INTEGER}`)
    if (Number.isNaN(now.getTime())) this.#refuse('its time is not valid')
  }

  #refuse(reason: string): never {
    this.fault ??= new ConnectorError(
      'system',
      'library-misused',
      `The output of the connector for ${this.name} is not valid: ${reason}. This is a fault of the connector: report it.`,
    )
    throw this.fault
  }
}

/**
 * Whether a text is the members of a JSON object on one line, without braces. Most keys are numbers, so these are
 * matched first.
 */
function isKey(members: KeyMembers): boolean {
  if (/^"\w+":\d+$/.test(members)) return true
  try {
    return !/[\n\r]/.test(members) && Object.keys(JSON.parse(`{${members}}`)).length > 0
  } catch {
    return false
  }
}

/** Derives the progress of a sync from the calls to its outputs, for a source that does not report it. */
interface DerivedProgress {
  /** The observer to pass to the source. Once the source calls `begun`, nothing is derived any more. */
  readonly observer: SyncObserver
  started(stream: string): void
  /** Called once for each stream; without an error, the stream is complete. */
  ended(stream: string, error?: ConnectorError): void
}

/** Nothing is known of the requests of these sources. */
const NO_TRAFFIC = { requests: 0, retries: 0, refusals: 0, bytes: 0, answerMs: 0 }

/** Creates the progress of a sync of these streams, which is reported to `observer`. */
function createDerivedProgress(
  observer: SyncObserver,
  streams: readonly (Pick<StreamRequest, 'name' | 'mode' | 'state'> & {
    readonly output: { readonly counts: RowCounts }
  })[],
): DerivedProgress {
  const starts = new Map(streams.map((stream) => [stream.name, startOf(stream)]))
  const running = new Set<string>()
  let reporter: 'nobody' | 'source' | 'outputs' = 'nobody'
  return {
    observer: {
      ...observer,
      begun(facts) {
        reporter = 'source'
        observer.begun(facts)
      },
    },
    started(name) {
      if (reporter === 'nobody') begin()
      const start = starts.get(name)
      if (reporter !== 'outputs' || start === undefined) return
      running.add(name)
      observer.started(name, start)
    },
    ended(name, error) {
      if (reporter === 'outputs' && running.delete(name)) observer.ended(name, error)
    },
  }

  function begin(): void {
    reporter = 'outputs'
    observer.begun({
      subject: '',
      labels: {},
      streams: streams.map(({ name, output }) => ({ name, counts: output.counts })),
      traffic: NO_TRAFFIC,
      retryCause: () => undefined,
    })
  }
}

function startOf({ mode, state }: Pick<StreamRequest, 'mode' | 'state'>): StreamStart {
  if (mode === 'full_refresh') return { kind: 'whole', how: 'full refresh' }
  return state === undefined
    ? { kind: 'begins', how: 'from the beginning: first sync' }
    : { kind: 'changes', how: 'incremental' }
}
