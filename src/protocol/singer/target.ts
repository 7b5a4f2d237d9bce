import type { Readable } from 'node:stream'
import { ConnectorError } from '../../ground/errors.ts'
import type { JsonObject } from '../../ground/json.ts'
import type { Failure } from '../connector.ts'
import type { Destination, DestinationConnector } from '../destination.ts'
import {
  InputFault,
  type InputMessage,
  type InputMessages,
  memberText,
  readMessages,
  recordFault,
} from '../input-messages.ts'
import type { Io } from '../program.ts'
import { openWriteRun, type WrittenStream, writeInput } from '../write-run.ts'
import { counterOf } from './log.ts'
import {
  createSingerCommand,
  noConfig,
  parseOptions,
  printAbout,
  report,
  runSingerProgram,
  type SharedOptions,
  type SingerProgram,
  type SingerTools,
  settingsOf,
  TARGET_CAPABILITIES,
} from './singer-program.ts'

/**
 * Finds out by their versions which streams this run read completely. ACTIVATE_VERSION is not enough: some taps send
 * it before the records, and a tap that continues an interrupted read sends only the rest, under the same version as
 * before.
 */
export interface Versions {
  /** Called for a RECORD, with its version if it has one. */
  record(stream: string, version: unknown): void
  /** Called for a STATE. */
  state(value: unknown): void
  /** Called for an ACTIVATE_VERSION. */
  activate(stream: string, version: unknown): void
  /** Whether this run got all records of the stream. */
  isComplete(stream: string): boolean
}

/** Creates the versions of a run. Its methods must be called in the order of the messages. */
export function createVersions(): Versions {
  const complete = new Map<string, boolean>()
  const latest = new Map<string, unknown>()
  /** Versions that began before this run, by stream. */
  const resumed = new Map<string, unknown>()
  let state: unknown
  return {
    record(stream, version) {
      if (version === undefined || latest.get(stream) === version) return
      latest.set(stream, version)
      complete.set(stream, false)
      // If the state before the first record has the version, an earlier run has read a part of it.
      if (holds(bookmarkOf(state, stream), version)) resumed.set(stream, version)
    },
    state(value) {
      state = value
    },
    activate(stream, version) {
      const isWhole = version === latest.get(stream) && version !== resumed.get(stream)
      if (version !== undefined) complete.set(stream, isWhole)
    },
    isComplete: (stream) => complete.get(stream) === true,
  }
}

function bookmarkOf(state: unknown, stream: string): unknown {
  const { bookmarks } = (state ?? {}) as { readonly bookmarks?: Readonly<Record<string, unknown>> }
  return bookmarks === undefined ? state : bookmarks[stream]
}

/** Whether a bookmark contains a version at any depth. */
function holds(value: unknown, version: unknown): boolean {
  if (typeof value === 'object' && value !== null)
    return Object.values(value).some((member) => holds(member, version))
  return value === version || value === String(version)
}

/** A stream of the input. */
interface Stream {
  readonly name: string
  /** Where the stream is written; undefined if there is no object for it. */
  readonly written: WrittenStream | undefined
  records: number
}

/**
 * Writes the records of an input and passes on its last state; returns the streams that could not be written. A
 * stream is written to the object of the same name, or of the part of its name after the last hyphen, because taps of
 * databases call a stream `schema-table`.
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

  function add(stream: Stream, { line, value, repeated }: InputMessage): Promise<void> | undefined {
    const { record, version } = value
    if (typeof record !== 'object' || record === null)
      throw new InputFault(line, 'is a RECORD without a record')
    stream.records++
    versions.record(stream.name, version)
    if (stream.written === undefined) return undefined
    return run.add(
      stream.written,
      record as JsonObject,
      recordFault({ line, repeated }, ['record']),
    )
  }

  function pass({ line, text, value }: InputMessage): undefined {
    const state = memberText(text, 'value')
    if (state === undefined) throw new InputFault(line, 'is a STATE without a value')
    versions.state(value['value'])
    // A Singer state covers all streams.
    const covered = [...streams.values()].flatMap(({ written }) => written ?? [])
    run.hold(covered, () => {
      if (![...streams.values()].some(isFailed)) void writer.write(`${state}\n`)
    })
  }

  function isFailed({ written }: Stream): boolean {
    return written === undefined || session.failed.has(written.object)
  }

  /** Whether this run got all records of all streams of an object. */
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
    'unknown-object',
    `There is no object of this name to write to. Give the stream the name of one of ${objects.join(', ')}, or do not select it. No state is passed on until then.`,
  )
}

type InputIo = Partial<Io> & { readonly stdin?: Readable }

/**
 * Runs a target with the command line of the Meltano SDK, and returns the exit code. The missing parts of `io` are
 * those of the process.
 */
export function runSingerTarget<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  io: InputIo = {},
): Promise<number> {
  const name = `target-${connector.name}`
  return runSingerProgram(
    { name, capabilities: TARGET_CAPABILITIES },
    connector,
    io,
    (program, tools) => execute(argv, connector, program, { ...tools, io }),
  )
}

async function execute<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  program: SingerProgram,
  tools: SingerTools & { readonly io: InputIo },
): Promise<number> {
  const options = parseOptions<SharedOptions>(createSingerCommand(program, tools), argv)
  if (options === 'answered') return 0
  if (options.about) return printAbout(program, options.format, tools)
  const settings = await settingsOf(options, program, tools)
  if (settings === undefined) throw noConfig()
  const destination = await connector.load()
  const config = destination.configure(settings, tools.log)
  const input = readMessages(tools.io.stdin ?? process.stdin, tools.signal)
  const failures = await write(destination, config, input, tools)
  for (const failure of failures) report(failure, tools.log)
  return failures.length === 0 ? 0 : 1
}
