import { unknownStream } from '../../ground/errors.ts'
import { warningOf } from '../../ground/message-ids.ts'
import { fieldsOf, schemaUnder, selectionRules } from '../../records/record-rules.ts'
import type { JsonSchema } from '../../records/stream-spec.ts'
import { readJsonOption, readOption } from '../command-line.ts'
import { type CheckResult, type Connector, checkFailure, type Failure } from '../connector.ts'
import { type Io, NEXT_FROM_STATE } from '../program.ts'
import { metricsVariable, type ObservedSettings, observed } from '../progress/observed.ts'
import { type ReadRunTools, readStreams, type StreamReading } from '../read-run.ts'
import {
  cursorOf,
  parseCatalog,
  recordSchema,
  type SelectedStream,
  singerStream,
} from './catalog.ts'
import { createSingerMetrics } from './log.ts'
import {
  createSingerOutput,
  createStateWriter,
  parseState,
  type StateValue,
  type StateWriter,
} from './singer-output.ts'
import {
  createSingerCommand,
  noConfig,
  parseOptions,
  print,
  printAbout,
  report,
  runSingerProgram,
  type SharedOptions,
  type SingerProgram,
  type SingerTools,
  settingsOf,
  TAP_CAPABILITIES,
} from './singer-program.ts'

/**
 * The schema without columns whose names differ from an earlier one only in case: targets that ignore the case of
 * names, such as target-duckdb, reject the whole table otherwise. Records keep both members.
 */
export function withoutTwins(schema: JsonSchema): JsonSchema {
  const taken = new Set<string>()
  const isFirst = (name: string) => taken.size < taken.add(name.toLowerCase()).size
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => isFirst(name))
  return { ...schema, properties: Object.fromEntries(properties) }
}

/** The streams to read. */
export interface Selection {
  /** Undefined selects all streams and fields. */
  readonly selection: readonly SelectedStream[] | undefined
  readonly stored: StateValue
  readonly states: StateWriter
}

/** Reads the selected streams. Unknown ones are among the returned failures. */
export async function sync<Config>(
  connector: Connector<Config>,
  input: unknown,
  { selection, stored, states }: Selection,
  tools: SingerTools & Pick<ReadRunTools, 'observer'>,
): Promise<readonly Failure[]> {
  const source = await connector.load()
  const config = source.configure(input, tools.log)
  const offered = new Map(source.streams(config).map((spec) => [spec.name, spec]))
  const chosen = selection ?? [...offered.keys()].map(whole)
  const activatesVersions = source.activatesVersions?.(config) ?? true
  const refused: Failure[] = []
  const readings: StreamReading[] = []
  for (const { name, isSelected } of chosen) {
    const spec = offered.get(name)
    if (spec === undefined) {
      refused.push({
        stream: name,
        error: unknownStream(name, offered.keys(), source.unknownStreamHint?.(name)),
      })
      continue
    }
    const schema = recordSchema(spec)
    const rules = selectionRules(schema, isSelected)
    const selected = schemaUnder(schema, rules)
    const writer = createSingerOutput({
      spec,
      cursor: cursorOf(spec),
      schema: withoutTwins(selected),
      rules,
      activatesVersions,
      states,
      ...tools,
    })
    const fields = rules && fieldsOf(selected)
    const state = stored.bookmarks[name]
    readings.push({ spec, mode: 'incremental', state, fields, selection: rules, writer })
  }
  const names = new Set(readings.map(({ spec }) => spec.name))
  const keptStates = Object.entries(stored.bookmarks).flatMap(([name, state]) =>
    names.has(name) ? [] : [state],
  )
  const failed = await readStreams(source, config, readings, { ...tools, refused, keptStates })
  return [...refused, ...failed]
}

/** Selects a whole stream, if there is no catalog. */
function whole(name: string): SelectedStream {
  return { name, isSelected: () => true }
}

interface Options extends SharedOptions {
  readonly discover?: true
  readonly catalog?: string
  readonly properties?: string
  readonly state?: string
  readonly test?: true
  readonly metrics?: string
  readonly quiet?: true
}

/**
 * Runs a tap with the command line of the Meltano SDK, and returns the exit code. The missing parts of `io` are those
 * of the process.
 */
export function runSinger<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  io: Partial<Io> = {},
): Promise<number> {
  const name = `tap-${connector.name}`
  return runSingerProgram(
    { name, capabilities: TAP_CAPABILITIES },
    connector,
    io,
    (program, tools) => execute(argv, connector, program, tools),
  )
}

async function execute<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  program: SingerProgram,
  tools: SingerTools,
): Promise<number> {
  const options = parseArguments(argv, program, tools)
  if (options === 'answered') return 0
  if (options.about) return printAbout(program, options.format, tools)
  const isSync = options.discover === undefined && options.test === undefined
  if (isSync) return observedSync(options, connector, program, tools)
  const input = await settingsOf(options, program, tools)
  if (options.discover) {
    const source = await connector.load()
    const config = input === undefined ? undefined : source.configure(input, tools.log)
    const streams = source.streams(config)
    return print(JSON.stringify({ streams: streams.map(singerStream) }, null, 2), tools)
  }
  if (input === undefined) throw noConfig()
  const source = await connector.load()
  return test(await source.check(source.configure(input, tools.log), tools), tools)
}

function parseArguments(
  argv: readonly string[],
  program: SingerProgram,
  tools: SingerTools,
): Options | 'answered' {
  const command = createSingerCommand(program, tools)
    .option('--discover', 'print the catalog of all streams')
    .option('--catalog <file>', 'what to read (default: everything)')
    .option('--properties <file>', 'an older name of --catalog')
    .option('--state <file>', 'the state of the last run')
    .option(
      '--metrics <file>',
      `write metrics of the sync for Prometheus at its end; ${metricsVariable(program.about.name.replace(/^tap-/, ''))} names the file too`,
    )
    .option('--quiet', 'show no progress of the sync, only warnings, errors and its summary')
    .option('--test', 'test the settings and the connection; starts no delta')
  return parseOptions<Options>(command, argv)
}

/** Runs a sync and shows its progress. */
async function observedSync<Config>(
  options: Options,
  connector: Connector<Config>,
  program: SingerProgram,
  tools: SingerTools,
): Promise<number> {
  const { about, env } = program
  const { log } = tools
  const { metrics = env[metricsVariable(connector.name)], quiet = false } = options
  const settings: ObservedSettings = {
    program: about.name,
    version: about.version,
    name: connector.name,
    log,
    screen: tools.screen,
    logsBesideBlock: true,
    // The log writes the errors at the end, to the same terminal.
    tellsFailures: false,
    metrics,
    isQuiet: quiet,
    kept: NEXT_FROM_STATE,
    listeners: [createSingerMetrics(log)],
  }
  const failures = await observed(settings, async (observer) => {
    const input = await settingsOf(options, program, tools)
    if (input === undefined) throw noConfig()
    return readAll(input, options, connector, { ...tools, observer })
  })
  for (const failure of failures) report(failure, log)
  return failures.length === 0 ? 0 : 1
}

async function readAll<Config>(
  input: unknown,
  { catalog, properties, state }: Options,
  connector: Connector<Config>,
  tools: SingerTools & Pick<ReadRunTools, 'observer'>,
): Promise<readonly Failure[]> {
  const file = catalog ?? properties
  const selection =
    file === undefined ? undefined : parseCatalog(await readJsonOption('--catalog', file))
  if (selection?.length === 0)
    tools.log.warn(warningOf('nothing-selected', 'The catalog selects nothing: no stream is read.'))
  const text = state === undefined ? '' : await readOption('--state', state)
  const stored = parseState(text, connector.name)
  const states = createStateWriter(stored, tools.writer)
  // Some targets store whatever STATE came last, so the first one repeats the input.
  await states.write()
  return sync(connector, input, { selection, stored, states }, tools).finally(() => {
    void states.write()
    // Flushed, so that errors come last even if stdout and stderr are the same: `meltano config test` shows the last
    // line.
    return tools.writer.flush()
  })
}

function test(result: CheckResult, { log }: SingerTools): number {
  if (result.isUsable) log.answer(result.message)
  else log.error(checkFailure(result))
  return result.isUsable ? 0 : 1
}
