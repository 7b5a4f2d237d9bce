import type { Readable, Writable } from 'node:stream'
import { ConnectorError } from '../../ground/errors.ts'
import type { JsonObject } from '../../ground/json.ts'
import { warningOf } from '../../ground/message-ids.ts'
import { readJsonOption, requiredOption } from '../command-line.ts'
import type { Failure } from '../connector.ts'
import type {
  Destination,
  DestinationConnector,
  DestinationSyncMode,
  ObjectSpec,
} from '../destination.ts'
import {
  InputFault,
  type InputMessage,
  type InputMessages,
  memberText,
  readMessages,
  recordFault,
} from '../input-messages.ts'
import type { Io } from '../program.ts'
import { openWriteRun, type Tally, writeInput } from '../write-run.ts'
import * as messages from './airbyte-messages.ts'
import { createCommands } from './commands.ts'

/** The operations that `discover` lists for an object, one per mode. */
function operationsOf({ name, schema, matchingKeys, modes }: ObjectSpec): object[] {
  return modes.map((mode) => ({
    object_name: name,
    sync_mode: mode,
    json_schema: schema,
    matching_keys: matchingKeys,
  }))
}

/** A stream of a configured catalog, and the object to which it is written. */
interface ConfiguredStream {
  readonly name: string
  readonly namespace: string | undefined
  readonly object: string
  /** Whether each sync sends all records, instead of only the changed ones. */
  readonly isFullRefresh: boolean
  /** Why the stream cannot be written. */
  readonly refusal?: ConnectorError
}

/**
 * Parses a configured catalog. A stream that cannot be written as configured has a `refusal`; the others can be
 * written. Throws a config error if the input is not a configured catalog.
 */
function parseDestinationCatalog(
  input: unknown,
  objects: readonly ObjectSpec[],
): readonly ConfiguredStream[] {
  const streams = (input as { streams?: unknown } | null)?.streams
  if (!Array.isArray(streams)) throw notACatalog('it has no list of streams')
  const configured = streams.map((entry) => parseStream(entry, objects))
  const names = configured.map(streamKey)
  const twice = configured.find((stream, i) => names.indexOf(streamKey(stream)) < i)
  if (twice !== undefined) throw notACatalog(`it names ${twice.name} twice`)
  return configured
}

/** Identifies a stream: several namespaces may have streams of the same name. An empty one is none. */
function streamKey({ name, namespace }: { name?: unknown; namespace?: unknown }): string {
  return JSON.stringify([namespace || null, name])
}

function parseStream(entry: unknown, objects: readonly ObjectSpec[]): ConfiguredStream {
  const facts = (entry ?? {}) as Record<string, unknown>
  const { name, namespace } = (facts['stream'] ?? {}) as Record<string, unknown>
  if (typeof name !== 'string') throw notACatalog('one of its streams has no name')
  const chosen = facts['destination_object_name']
  const object = typeof chosen === 'string' && chosen !== '' ? chosen : name
  const stream = {
    name,
    namespace: typeof namespace === 'string' ? namespace : undefined,
    object,
    isFullRefresh: facts['sync_mode'] === 'full_refresh',
  }
  const reason = refusalOf(facts, objects, object)
  return reason === undefined
    ? stream
    : { ...stream, refusal: new ConnectorError('config', 'stream-not-writable', reason) }
}

/** Why a stream cannot be written, in one sentence; undefined if it can. */
function refusalOf(
  { destination_sync_mode, destination_object_name, primary_key }: Record<string, unknown>,
  objects: readonly ObjectSpec[],
  object: string,
): string | undefined {
  const spec = objects.find(({ name }) => name === object)
  if (spec === undefined) {
    const names = objects.map(({ name }) => name).join(', ')
    return `There is no object ${object} to write to. Choose one of ${names} as the destination object, or leave the stream out.`
  }
  const mode = destination_sync_mode ?? 'append'
  if (!spec.modes.includes(mode as DestinationSyncMode))
    return `The destination sync mode ${String(mode)} cannot be used here. Choose one of ${spec.modes.join(', ')}.`
  // Without a destination object, the key is that of the source, which says nothing about the object.
  if (!destination_object_name || !Array.isArray(primary_key)) return undefined
  const offered = spec.matchingKeys.map((path) => JSON.stringify(path))
  const strange = primary_key.find((path) => !offered.includes(JSON.stringify(path)))
  if (strange === undefined) return undefined
  const paths = spec.matchingKeys.map((path) => path.join('.')).join(', ')
  return `A record cannot be matched by ${[strange].flat().join('.')}. Choose among ${paths}.`
}

function notACatalog(reason: string): ConnectorError {
  return new ConnectorError(
    'config',
    'configured-catalog-not-valid',
    `The file given by --catalog is not a configured catalog: ${reason}.`,
  )
}

/** The streams to write, and the input with their records. */
interface Writing {
  readonly streams: readonly ConfiguredStream[]
  readonly input: InputMessages
  /** The attempt of the platform's job; the first one is 0. */
  readonly attempt: number
}

/**
 * Writes the records of an input and passes on its states; returns the streams that could not be written. An object
 * without a stream in the catalog is not requested at all.
 */
async function write<Config>(
  destination: Destination<Config>,
  config: Config,
  { streams, input, attempt }: Writing,
  tools: messages.CommandTools,
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

  function add({ line, repeated }: InputMessage, record: unknown): Promise<void> | undefined {
    const { stream: name, namespace, data } = (record ?? {}) as JsonObject
    const stream = known.get(streamKey({ name, namespace }))
    if (stream === undefined)
      throw new InputFault(line, 'is a record of a stream that is not in the catalog')
    if (typeof data !== 'object' || data === null)
      throw new InputFault(line, 'is a record without data')
    if (stream.refusal !== undefined) return undefined
    return run.add(stream, data as JsonObject, recordFault({ line, repeated }, ['record', 'data']))
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
    // A state without a stream covers all streams.
    const covered = only === undefined ? streams : [only]
    const tallies = covered.map(run.takeTally)
    run.hold(covered, () => {
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

  /** Whether this run got all records of all streams of an object. */
  function isComplete(object: string): boolean {
    const sources = streams.filter((stream) => stream.object === object)
    if (!sources.every((stream) => stream.isFullRefresh && complete.has(stream))) return false
    if (sources.some(isFailed)) return false
    if (attempt === 0) return true
    // A source that resumes sends only what earlier attempts did not send.
    log.info(
      `${object}: this is attempt ${attempt + 1} of a job, so its records may not be complete.`,
    )
    return false
  }
}

/**
 * Appends to an unchanged state how many of its records were written and rejected; the platform compares the sum with
 * its own count.
 */
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

/** The parts of the process that the commands use. */
export interface CommandIo {
  readonly stderr: Writable
  readonly env: Io['env']
  /** Opened only by the command that reads it. */
  stdin(): Readable
}

/**
 * Parses the command line of a destination and runs its command. Returns the exit code; throws a config error if the
 * command line is not valid.
 */
export function runDestinationCommand<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  tools: messages.CommandTools,
  { stderr, env, stdin }: CommandIo,
): Promise<number> {
  const { log, signal } = tools
  const commands = createCommands(`destination-${connector.name}`, connector, tools, stderr)
  commands.addCheck(async (input) => {
    const destination = await connector.load()
    return destination.check(destination.configure(input, log), tools)
  })
  commands.add('discover', 'list the objects and the operations on them').action(async (files) => {
    const input = await commands.settings(files)
    const destination = await connector.load()
    const objects = destination.objects(destination.configure(input, log))
    commands.say(messages.destinationCatalog(objects.flatMap(operationsOf)))
  })
  commands
    .add('write', 'write the records of stdin')
    .option('--catalog <file>', 'the configured catalog')
    .action(async (files) => {
      const settings = await commands.settings(files)
      const catalog = await readJsonOption('--catalog', requiredOption('--catalog', files.catalog))
      const destination = await connector.load()
      const config = destination.configure(settings, log)
      const streams = parseDestinationCatalog(catalog, destination.objects(config))
      if (streams.length === 0)
        log.warn(
          warningOf('nothing-selected', 'The catalog selects nothing: no record is written.'),
        )
      const input = readMessages(stdin(), signal)
      const attempt = Number(env['WORKER_JOB_ATTEMPT'] ?? 0) || 0
      commands.fail(await write(destination, config, { streams, input, attempt }, tools))
    })
  return commands.run(argv)
}
