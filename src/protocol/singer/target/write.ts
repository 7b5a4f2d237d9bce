import type { Failure } from '../../connector.ts'
import type { Destination } from '../../destination.ts'
import { ConnectorError } from '../../errors.ts'
import { InputFault, type InputMessage, type InputMessages } from '../../input-messages.ts'
import type { JsonObject } from '../../json.ts'
import { memberText } from '../../member-text.ts'
import { openWriteRun, type WrittenStream, writeInput } from '../../write-run.ts'
import { counterOf } from '../metrics.ts'
import type { SingerTools } from '../singer-program.ts'
import { createVersions } from './versions.ts'

/** A stream of the input. */
interface Stream {
  readonly name: string
  /** Where it is written to; undefined if there is no object for it. */
  readonly written: WrittenStream | undefined
  records: number
}

/**
 * Writes the records of an input and passes the value of its last state on; answers with the streams that
 * could not be written. A stream is written to the object of its name, or of the part of its name behind the
 * last hyphen: taps of databases call a stream `schema-table`.
 */
export async function write<Config>(
  destination: Destination<Config>,
  config: Config,
  input: InputMessages,
  tools: SingerTools,
): Promise<readonly Failure[]> {
  const { log, writer } = tools
  const objects = destination.objects(config).map(({ name }) => name)
  const streams = new Map<string, Stream>()
  const versions = createVersions()
  const run = await openWriteRun({ destination, config, tools })
  const { session } = run
  const completeObjects = () => objects.filter(isComplete)
  const others = await writeInput(input, run, { handle, completeObjects }).finally(() => {
    for (const { name, records } of streams.values())
      log.metric(counterOf(name, 'record_count', records))
  })
  const failed = [...streams.values()].flatMap(({ name, written }) => {
    const error = written === undefined ? noObject(objects) : session.failed.get(written.object)
    return error === undefined ? [] : [{ stream: name, error }]
  })
  return [...failed, ...others]

  function handle(message: InputMessage): Promise<void> | undefined {
    const { line, value } = message
    const type = String(value['type']).toUpperCase()
    if (type === 'STATE') return pass(message)
    if (type === 'BATCH')
      throw new InputFault(line, 'is a BATCH message, which this target cannot read')
    if (type !== 'RECORD' && type !== 'SCHEMA' && type !== 'ACTIVATE_VERSION') return undefined
    const name = value['stream']
    if (typeof name !== 'string') throw new InputFault(line, `is a ${type} without a stream`)
    const stream = streamOf(name)
    if (type === 'RECORD') return add(stream, message)
    if (type === 'ACTIVATE_VERSION') versions.activate(name, value['version'])
    return undefined
  }

  function add(stream: Stream, { line, value }: InputMessage): Promise<void> | undefined {
    const { record, version } = value
    if (typeof record !== 'object' || record === null)
      throw new InputFault(line, 'is a RECORD without a record')
    stream.records++
    versions.record(stream.name, version)
    if (stream.written === undefined) return undefined
    return run.add(stream.written, record as JsonObject)
  }

  function pass({ line, text, value }: InputMessage): undefined {
    const state = memberText(text, 'value')
    if (state === undefined) throw new InputFault(line, 'is a STATE without a value')
    versions.state(value['value'])
    run.hold(() => {
      // A state is one of all streams.
      if (![...streams.values()].some(isFailed)) void writer.write(`${state}\n`)
    })
  }

  function isFailed({ written }: Stream): boolean {
    return written === undefined || session.failed.has(written.object)
  }

  /** Whether all records that the sources of an object have came in this run. */
  function isComplete(object: string): boolean {
    const sources = [...streams.values()].filter(({ written }) => written?.object === object)
    return sources.length > 0 && sources.every(({ name }) => versions.isComplete(name))
  }

  function streamOf(name: string): Stream {
    const known = streams.get(name)
    if (known !== undefined) return known
    const last = name.slice(name.lastIndexOf('-') + 1)
    const object = objects.find((one) => one === name) ?? objects.find((one) => one === last)
    const written = object === undefined ? undefined : { name, object }
    const stream = { name, written, records: 0 }
    streams.set(name, stream)
    return stream
  }
}

function noObject(objects: readonly string[]): ConnectorError {
  return new ConnectorError(
    'config',
    `There is no object of this name to write to. Give the stream the name of one of ${objects.join(', ')}, or do not select it. No state is passed on until then.`,
  )
}
