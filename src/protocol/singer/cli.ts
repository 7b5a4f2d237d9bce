import { Command, CommanderError, Option } from 'commander'
import { readJsonOption, readOption, refusedCommandLine } from '../command-line.ts'
import type { CheckResult, Connector, Failure, ReadTools } from '../connector.ts'
import { asConnectorError, ConnectorError } from '../errors.ts'
import { createMask } from '../mask.ts'
import { type Io, NEXT_FROM_STATE, processOr, runProgram } from '../program.ts'
import { metricsVariable, type ObservedSettings, observed } from '../progress/observed.ts'
import { createScreen, type Screen } from '../progress/screen.ts'
import { secretsOf } from '../settings-schema.ts'
import { type About, aboutJson, aboutMarkdown } from './about.ts'
import { parseCatalog, singerStream } from './catalog.ts'
import { createSingerLog, isJsonLog, type SingerLog } from './log.ts'
import { createSingerMetrics } from './metrics.ts'
import {
  mergeSettings,
  settingsFromEnvironment,
  unknownVariables,
  withoutUnset,
} from './settings.ts'
import { createStateWriter, parseState } from './state.ts'
import { sync, type TapTools } from './sync.ts'

interface Options {
  readonly config?: readonly string[]
  readonly discover?: true
  readonly catalog?: string
  readonly properties?: string
  readonly state?: string
  readonly about?: true
  readonly format: 'text' | 'json' | 'markdown'
  readonly test?: true
  readonly metrics?: string
  readonly quiet?: true
}

interface CommandTools extends TapTools {
  /** Where a block is drawn, if one may be. */
  readonly screen: Screen | undefined
}

/**
 * Runs a tap by the command line of the Meltano SDK and answers with the exit code. What is left out
 * of `io` is the process's own.
 */
export async function runSinger<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  io: Partial<Io> = {},
): Promise<number> {
  const { stdout, stderr, env } = processOr(io)
  const tap = tapOf(connector, env)
  const mask = createMask(connector.secretParameters)
  const { about, prefix } = tap
  const screen = createScreen(stderr, env, mask)
  const log = createSingerLog({ name: about.name, prefix, mask, environment: env, stderr: screen })
  // Records on the same terminal, and lines that programs read, leave no room for a block.
  const isShown = stdout.isTTY !== true && !isJsonLog(env, prefix)
  const block = isShown ? screen : undefined
  return runProgram(
    { stdout, stderr },
    (program) => execute(argv, tap, { ...program, log, mask, screen: block }),
    (error) => report({ error: asConnectorError(error) }, log),
  )
}

/** A connector as a tap, and the environment that it is run in. */
interface Tap<Config> {
  readonly connector: Connector<Config>
  readonly about: About
  /** Begins the names of environment variables with settings. */
  readonly prefix: string
  readonly env: Io['env']
}

function tapOf<Config>(connector: Connector<Config>, env: Io['env']): Tap<Config> {
  const { version, description, spec } = connector
  const name = `tap-${connector.name}`
  const about = { name, version, description, settings: spec.connectionSpecification }
  return { connector, about, prefix: name.toUpperCase().replaceAll('-', '_'), env }
}

async function execute<Config>(
  argv: readonly string[],
  tap: Tap<Config>,
  tools: CommandTools,
): Promise<number> {
  const options = parseArguments(argv, tap, tools)
  if (options === 'answered') return 0
  if (options.about) return tell(aboutText(tap.about, options.format), tools)
  const isSync = options.discover === undefined && options.test === undefined
  if (isSync) return observedSync(options, tap, tools)
  const input = await configOf(options.config ?? [], tap, tools)
  if (options.discover) {
    const source = await tap.connector.load()
    const config = input === undefined ? undefined : source.configure(input, tools.log)
    const streams = source.streams(config)
    return tell(JSON.stringify({ streams: streams.map(singerStream) }, null, 2), tools)
  }
  const source = await tap.connector.load()
  return test(await source.check(source.configure(given(input), tools.log), tools), tools)
}

function given(input: unknown): unknown {
  if (input !== undefined) return input
  throw new ConnectorError(
    'config',
    'The option --config is missing: name the file with the settings.',
  )
}

/** A sync with all that is shown of it. */
async function observedSync<Config>(
  options: Options,
  tap: Tap<Config>,
  tools: CommandTools,
): Promise<number> {
  const { connector, about, env } = tap
  const { log, screen } = tools
  const { metrics = env[metricsVariable(connector.name)], quiet = false } = options
  const settings: ObservedSettings = {
    program: about.name,
    version: about.version,
    name: connector.name,
    log,
    screen,
    logsBesideBlock: true,
    // The log is on the same terminal, and has the errors last.
    tellsFailures: false,
    metrics,
    isQuiet: quiet,
    kept: NEXT_FROM_STATE,
    listeners: [createSingerMetrics(log)],
  }
  const failures = await observed(settings, async (observer) => {
    const input = given(await configOf(options.config ?? [], tap, tools))
    return readAll(input, options, tap, { ...tools, observer })
  })
  for (const failure of failures) report(failure, log)
  return failures.length === 0 ? 0 : 1
}

async function readAll<Config>(
  input: unknown,
  { catalog, properties, state }: Options,
  { connector }: Tap<Config>,
  tools: TapTools & Pick<ReadTools, 'observer'>,
): Promise<readonly Failure[]> {
  const file = catalog ?? properties
  const selection =
    file === undefined ? undefined : parseCatalog(await readJsonOption('--catalog', file))
  if (selection?.length === 0) tools.log.warn('The catalog selects nothing: no stream is read.')
  const text = state === undefined ? '' : await readOption('--state', state)
  const stored = parseState(text, connector.name)
  const states = createStateWriter(stored, tools.writer)
  // Some targets take the first STATE for what they have stored, so it repeats the input.
  await states.write()
  return sync(connector, input, { selection, stored, states }, tools).finally(() => {
    void states.write()
    // An error comes last also where both outputs are one: `meltano config test` shows the last line.
    return tools.writer.flush()
  })
}

function parseArguments<Config>(
  argv: readonly string[],
  { about, prefix }: Tap<Config>,
  { writer }: TapTools,
): Options | 'answered' {
  const collect = (value: string, all: readonly string[] = []) => [...all, value]
  const command = new Command(about.name)
    .description(about.description)
    .version(`${about.name} v${about.version}`)
    .option(
      '--config <file>',
      `settings, may be repeated, later ones win; ENV reads ${prefix}_* variables, which win over files`,
      collect,
    )
    .option('--discover', 'print the catalog of all streams')
    .option('--catalog <file>', 'what to read; everything if left out')
    .option('--properties <file>', 'an older name of --catalog')
    .option('--state <file>', 'the state of the last run')
    .option('--about', 'print what this tap can do and its settings')
    .addOption(
      new Option('--format <format>', 'of --about')
        .choices(['text', 'json', 'markdown'])
        .default('text'),
    )
    .option(
      '--metrics <file>',
      `write metrics of the sync for Prometheus at its end; ${metricsVariable(about.name.replace(/^tap-/, ''))} names the file too`,
    )
    .option('--quiet', 'show no progress of the sync: warnings, errors and its summary alone')
    .option('--test', 'test the settings and the connection; starts no delta')
    .exitOverride()
    // What it would say is said once, by the error below.
    .configureOutput({ writeOut: (text) => void writer.write(text), writeErr: () => {} })
  try {
    return command.parse([...argv], { from: 'user' }).opts<Options>()
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 'answered'
    throw refusedCommandLine(error)
  }
}

/** The settings of all --config options, later ones over earlier ones; undefined when there is none. */
async function configOf<Config>(
  names: readonly string[],
  { about, prefix, env }: Tap<Config>,
  { mask, log }: TapTools,
): Promise<unknown> {
  if (names.length === 0) return undefined
  const { settings } = about
  if (names.includes('ENV')) {
    for (const name of unknownVariables(settings, prefix, env))
      log.warn(`The variable ${name} is no setting and is ignored.`)
  }
  const files = names.filter((name) => name !== 'ENV')
  const configs = await Promise.all(files.map((name) => readJsonOption('--config', name)))
  // The environment wins over files, wherever it stands.
  if (names.includes('ENV')) configs.push(settingsFromEnvironment(settings, prefix, env))
  const config = withoutUnset(mergeSettings(configs))
  for (const secret of secretsOf(settings, config)) mask.add(secret)
  return config
}

function aboutText(about: About, format: Options['format']): string {
  return format === 'json' ? aboutJson(about) : aboutMarkdown(about)
}

function tell(text: string, { writer }: TapTools): number {
  void writer.write(`${text}\n`)
  return 0
}

function test({ isReadable, message }: CheckResult, { log }: TapTools): number {
  if (isReadable) log.answer(message)
  else log.error(message)
  return isReadable ? 0 : 1
}

function report({ stream, error }: Failure, log: SingerLog): void {
  const subject = stream === undefined ? '' : `${stream}: `
  log.error(`${subject}${error.message} (${error.failure})`, stream)
  if (error.failure === 'system' && error.stack !== undefined) log.debug(error.stack)
}
