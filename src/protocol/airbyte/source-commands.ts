import { ConnectorError, unknownStream } from '../../ground/errors.ts'
import { fieldsOf, schemaUnder } from '../../records/record-rules.ts'
import { readMessagesOption, readOption, requiredOption } from '../command-line.ts'
import type { Connector, Failure, Source } from '../connector.ts'
import { type Io, NEXT_FROM_STATE } from '../program.ts'
import { metricsVariable, type ObservedSettings, observed } from '../progress/observed.ts'
import { createScreen } from '../progress/screen.ts'
import type { ProgressListener, SyncObserver } from '../progress/sync-progress.ts'
import { type ReadRunTools, readStreams, type StreamReading } from '../read-run.ts'
import { parseStateJson, refuseState } from '../state.ts'
import * as messages from './airbyte-messages.ts'
import { createAirbyteOutput, createAirbyteStates } from './airbyte-output.ts'
import { createCommands, type Files } from './commands.ts'
import {
  airbyteStream,
  type ConfiguredStream,
  chosenFields,
  parseConfiguredCatalog,
} from './configured-catalog.ts'

/** The streams to read. */
interface ReadSelection {
  readonly chosen: readonly ConfiguredStream[]
  /** The stored states by stream. */
  readonly states: ReadonlyMap<string, unknown>
}

/**
 * Reads the selected streams. A stream that cannot be read as configured starts and ends as incomplete and is among
 * the returned failures; the others are read.
 */
async function read<Config>(
  source: Source<Config>,
  config: Config,
  { chosen, states }: ReadSelection,
  tools: messages.CommandTools & Pick<ReadRunTools, 'observer'>,
): Promise<readonly Failure[]> {
  const { writer } = tools
  const offered = new Map(source.streams(config).map((spec) => [spec.name, spec]))
  const shared = createAirbyteStates()
  const refused: Failure[] = []
  const readings: StreamReading[] = []
  for (const configured of chosen) {
    const { name, syncMode: mode, refresh } = configured
    const spec = offered.get(name)
    if (spec === undefined)
      refuse(name, unknownStream(name, offered.keys(), source.unknownStreamHint?.(name)))
    else if (mode !== 'full_refresh' && mode !== 'incremental') refuse(name, unknownMode(mode))
    else {
      const rules = chosenFields(spec, configured)
      const output = createAirbyteOutput({ spec, rules, writer, states: shared })
      const fields = rules && fieldsOf(schemaUnder(spec.schema, rules))
      const state = states.get(name)
      readings.push({ spec, mode, state, refresh, fields, selection: rules, writer: output })
    }
  }
  const names = new Set(readings.map(({ spec }) => spec.name))
  const keptStates = [...states].flatMap(([name, state]) => (names.has(name) ? [] : [state]))
  const failed = await readStreams(source, config, readings, { ...tools, refused, keptStates })
  return [...refused, ...failed]

  function refuse(stream: string, error: ConnectorError): void {
    for (const status of ['STARTED', 'INCOMPLETE'] as const)
      void writer.write(`${messages.streamStatus(stream, status)}\n`)
    refused.push({ stream, error })
  }
}

/** Reports to the platform the expected number of rows of each stream that an earlier sync has counted. */
function createEstimates({ writer }: Pick<messages.CommandTools, 'writer'>): ProgressListener {
  return {
    started({ name, start }) {
      if (start?.expected === undefined) return
      void writer.write(`${messages.estimate(name, start.expected)}\n`)
    },
  }
}

function unknownMode(mode: string): ConnectorError {
  return new ConnectorError(
    'config',
    'unknown-sync-mode',
    `The sync mode ${mode} is not known; choose full_refresh or incremental.`,
  )
}

/**
 * Parses a state file: the states by stream. Accepts every form that a platform or PyAirbyte may pass: an empty file
 * or list, STREAM and GLOBAL messages, and the legacy object of streams. Also accepts STATE messages as `read` prints
 * them, of which the last one per stream is used. The states themselves are not checked. Throws a config error for
 * any other form.
 */
export function parseStateFile(text: string, connector: string): ReadonlyMap<string, unknown> {
  const input = parseStateJson(text, { protocol: 'source', connector })
  if (input === null) return new Map()
  if (!Array.isArray(input))
    return typeof input === 'object' ? legacy(input) : refuseState('it is not a list')
  return new Map(input.flatMap(entries))
}

type Entry = readonly [name: string, blob: unknown]

function entries(item: unknown): Entry[] {
  const { type, state, stream, global, data } = (item ?? {}) as Record<string, unknown>
  if (type === 'STATE') return entries(state)
  if (type === 'GLOBAL') {
    const states = (global as { stream_states?: unknown } | null)?.stream_states
    return Array.isArray(states)
      ? states.map(streamEntry)
      : refuseState('its global state has no streams')
  }
  if (stream !== undefined) return [streamEntry(stream)]
  if (typeof data === 'object' && data !== null) return [...legacy(data)]
  return refuseState('one of its entries is not a state message')
}

function streamEntry(stream: unknown): Entry {
  const { stream_descriptor, stream_state } = (stream ?? {}) as Record<string, unknown>
  const name = (stream_descriptor as { name?: unknown } | null | undefined)?.name
  return typeof name === 'string'
    ? [name, stream_state]
    : refuseState('one of its entries names no stream')
}

function legacy(input: object): ReadonlyMap<string, unknown> {
  // Also accepts a single message that was saved by hand.
  if ('type' in input && ['stream', 'global', 'state', 'data'].some((name) => name in input))
    return new Map(entries(input))
  const states = Object.entries(input)
  // In another form, such as that of Airbyte's API, the states would be ignored, and nothing would be deleted.
  const other = states.find(([, state]) => typeof state !== 'object' || Array.isArray(state))
  if (other !== undefined) refuseState(`its member ${other[0]} is no state of a stream`)
  return new Map(states)
}

interface ReadOptions extends Files {
  readonly metrics?: string
  readonly quiet?: true
}

/**
 * Parses the command line of a source and runs its command. Returns the exit code; throws a config error if the
 * command line is not valid.
 */
export function runCommand<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  tools: messages.CommandTools,
  { stdout, stderr, env }: Io,
): Promise<number> {
  const { log, mask } = tools
  const commands = createCommands(`source-${connector.name}`, connector, tools, stderr)
  commands.addCheck(async (input) => {
    const source = await connector.load()
    return source.check(source.configure(input, log), tools)
  })
  commands.add('discover', 'list the streams').action(async (files) => {
    const input = await commands.settings(files)
    const source = await connector.load()
    const streams = source.streams(source.configure(input, log))
    commands.say(messages.catalog(streams.map(airbyteStream)))
  })
  commands
    .add('read', 'read the streams of a catalog')
    .option('--catalog <file>', 'the configured catalog, or the output of discover')
    .option('--state <file>', 'the state of the last sync')
    .option(
      '--metrics <file>',
      `write metrics of the sync for Prometheus at its end; ${metricsVariable(connector.name)} names the file too`,
    )
    .option('--quiet', 'show no progress of the sync, only warnings, errors and its summary')
    .action(async (options: ReadOptions) => {
      commands.fail(await observed(shownBy(options), sync(options)))
    })
  return commands.run(argv)

  function sync(files: Files) {
    return async (observer: SyncObserver): Promise<readonly Failure[]> => {
      const input = await commands.settings(files)
      const chosen = await chosenStreams(requiredOption('--catalog', files.catalog))
      const states = parseStateFile(
        files.state === undefined ? '' : await readOption('--state', files.state),
        connector.name,
      )
      const source = await connector.load()
      const config = source.configure(input, log)
      return read(source, config, { chosen, states }, { ...tools, observer })
    }
  }

  /** Messages are written to stdout, so the progress block is shown only if stdout is not the same terminal. */
  function shownBy({
    metrics = env[metricsVariable(connector.name)],
    quiet,
  }: ReadOptions): ObservedSettings {
    return {
      program: `source-${connector.name}`,
      version: connector.version,
      name: connector.name,
      log,
      screen: stdout.isTTY === true ? undefined : createScreen(stderr, env, mask),
      logsBesideBlock: true,
      tellsFailures: true,
      metrics,
      isQuiet: quiet === true,
      kept: NEXT_FROM_STATE,
      listeners: [createEstimates(tools)],
    }
  }

  async function chosenStreams(file: string): Promise<readonly ConfiguredStream[]> {
    const input = await readMessagesOption('--catalog', file)
    const { streams, isDiscovered } = parseConfiguredCatalog(input)
    if (isDiscovered)
      log.info(
        `The catalog is the output of discover: all ${streams.length} streams are read, incrementally.`,
      )
    if (streams.length === 0)
      throw new ConnectorError(
        'config',
        'no-stream-selected',
        'The file given by --catalog selects no stream, so nothing would be read. Select streams in the platform.',
      )
    return streams
  }
}
