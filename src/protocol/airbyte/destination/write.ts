import type { Failure } from '../../connector.ts'
import type { Destination } from '../../destination.ts'
import { InputFault, type InputMessage, type InputMessages } from '../../input-messages.ts'
import type { JsonObject } from '../../json.ts'
import { memberText } from '../../member-text.ts'
import { openWriteRun, type Tally, writeInput } from '../../write-run.ts'
import type { CommandTools } from '../report.ts'
import { type ConfiguredStream, streamKey } from './catalog.ts'

/** What is to be written, and from where. */
export interface Writing {
  readonly streams: readonly ConfiguredStream[]
  readonly input: InputMessages
  /** Which attempt of the platform's job this is; the first one is 0. */
  readonly attempt: number
}

/**
 * Writes the records of an input and passes its states on; answers with the streams that could not be
 * written. Nothing is asked of an object that no stream of the catalog is for.
 */
export async function write<Config>(
  destination: Destination<Config>,
  config: Config,
  { streams, input, attempt }: Writing,
  tools: CommandTools,
): Promise<readonly Failure[]> {
  const { log, writer } = tools
  const refused = streams.flatMap(({ name, refusal }) =>
    refusal === undefined ? [] : [{ stream: name, error: refusal }],
  )
  const writable = streams.filter(({ refusal }) => refusal === undefined)
  const known = new Map(streams.map((stream) => [streamKey(stream), stream]))
  const objects = [...new Set(writable.map(({ object }) => object))]
  const complete = new Set<ConfiguredStream>()
  if (objects.length === 0) return refused
  const run = await openWriteRun({ destination, config, tools })
  const { session } = run
  const others = await writeInput(input, run, {
    handle,
    completeObjects: () => objects.filter(isComplete),
  })
  const failed = writable.flatMap(({ name, object }) => {
    const error = session.failed.get(object)
    return error === undefined ? [] : [{ stream: name, error }]
  })
  return [...refused, ...failed, ...others]

  function handle(message: InputMessage): Promise<void> | undefined {
    const { type, record, state, trace } = message.value
    if (type === 'RECORD') return add(message, record)
    if (type === 'STATE') pass(message, state)
    if (type === 'TRACE') follow(trace)
    return undefined
  }

  function add({ line }: InputMessage, record: unknown): Promise<void> | undefined {
    const { stream: name, namespace, data } = (record ?? {}) as JsonObject
    const stream = known.get(streamKey({ name, namespace }))
    if (stream === undefined)
      throw new InputFault(line, 'is a record of a stream that is not in the catalog')
    if (typeof data !== 'object' || data === null)
      throw new InputFault(line, 'is a record without data')
    if (stream.refusal !== undefined) return undefined
    return run.add(stream, data as JsonObject)
  }

  function pass({ line, text }: InputMessage, state: unknown): void {
    const body = memberText(text, 'state')
    if (body === undefined || !body.startsWith('{'))
      throw new InputFault(line, 'is a state message without a state')
    const { stream } = state as {
      readonly stream?: { readonly stream_descriptor?: JsonObject } | null
    }
    const only = stream ? known.get(streamKey(stream.stream_descriptor ?? {})) : undefined
    if (stream && only === undefined)
      throw new InputFault(line, 'is a state of a stream that is not in the catalog')
    // A state that names no stream is one of all streams.
    const covered = only === undefined ? streams : [only]
    const tallies = covered.map(run.takeTally)
    run.hold(() => {
      if (covered.some(isFailed)) return
      void writer.write(`${stateLine(body, tallies)}\n`)
    })
  }

  function follow(trace: unknown): void {
    const { stream_descriptor: descriptor, status } = ((trace as JsonObject | undefined)?.[
      'stream_status'
    ] ?? {}) as { readonly stream_descriptor?: JsonObject; readonly status?: unknown }
    const stream = known.get(streamKey(descriptor ?? {}))
    if (stream !== undefined && status === 'COMPLETE') complete.add(stream)
    if (stream !== undefined && status === 'INCOMPLETE') complete.delete(stream)
  }

  function isFailed({ refusal, object }: ConfiguredStream): boolean {
    return refusal !== undefined || session.failed.has(object)
  }

  /** Whether all records that the sources of an object have came in this run. */
  function isComplete(object: string): boolean {
    const sources = streams.filter((stream) => stream.object === object)
    if (!sources.every((stream) => stream.isFullRefresh && complete.has(stream))) return false
    if (sources.some(isFailed)) return false
    if (attempt === 0) return true
    // A source that resumes sends only what the attempts before this one did not send.
    log.info(
      `${object}: this is attempt ${attempt + 1} of a job, so its records may not be all there are.`,
    )
    return false
  }
}

/** The state as it came, with what became of its records: the platform holds the sum against its own count. */
function stateLine(state: string, tallies: readonly Tally[]): string {
  const records = sum(tallies.map(({ records }) => records))
  const rejectedRecordCount = sum(tallies.map(({ rejected }) => rejected))
  const stats = { recordCount: records - rejectedRecordCount, rejectedRecordCount }
  const open = state.slice(0, -1).trimEnd()
  const comma = open === '{' ? '' : ','
  return `{"type":"STATE","state":${open}${comma}"destinationStats":${JSON.stringify(stats)}}}`
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
