import type { Writable } from 'node:stream'
import { Command, CommanderError, Option } from 'commander'
import { asConnectorError, ConnectorError } from '../../errors.ts'
import { createMask, type Mask } from '../../mask.ts'
import { refusedCommandLine } from '../command-line.ts'
import { readJsonOption, readOption } from '../option-files.ts'
import type { CheckResult, Failure } from '../outcome.ts'
import { type Program, runProgram } from '../program.ts'
import { type About, aboutJson, aboutMarkdown } from './about.ts'
import { parseCatalog, type SelectedStream } from './catalog.ts'
import { createSingerLog, type SingerLog } from './log.ts'
import {
  mergeSettings,
  settingsFromEnvironment,
  unknownVariables,
  withoutUnset,
} from './settings.ts'
import { createStateWriter, parseState, type StateWriter } from './state.ts'

/** What a command works with. */
export interface TapTools extends Program {
  readonly log: SingerLog
  readonly mask: Mask
}

/** What a tap offers; each method is called at most once in a process. */
export interface SingerTap {
  readonly about: About
  /** Begins the names of environment variables with settings. */
  readonly environmentPrefix: string
  /** Values in an unchecked configuration that must not be printed. */
  secrets(config: unknown): Promise<readonly string[]>
  /** The streams as entries of a catalog; without a configuration those that need none. */
  discover(config: unknown, tools: TapTools): Promise<readonly object[]>
  check(config: unknown, tools: TapTools): Promise<CheckResult>
  /** Writes schemas, records and states itself; what went wrong comes back. */
  sync(
    config: unknown,
    selection: readonly SelectedStream[] | undefined,
    bookmarks: Readonly<Record<string, unknown>>,
    states: StateWriter,
    tools: TapTools,
  ): Promise<readonly Failure[]>
}

interface Options {
  readonly config?: readonly string[]
  readonly discover?: true
  readonly catalog?: string
  readonly properties?: string
  readonly state?: string
  readonly about?: true
  readonly format: 'text' | 'json' | 'markdown'
  readonly test?: true
}

/** Runs a tap by the command line of the Meltano SDK and answers with the exit code. */
export async function runSinger(
  argv: readonly string[],
  tap: SingerTap,
  stdout: Writable = process.stdout,
): Promise<number> {
  const mask = createMask()
  const log = createSingerLog({ name: tap.about.name, prefix: tap.environmentPrefix, mask })
  try {
    return await runProgram(
      stdout,
      (program) => execute(argv, tap, { ...program, log, mask }),
      (error) => report({ error: asConnectorError(error) }, log),
    )
  } finally {
    log.close()
  }
}

async function execute(argv: readonly string[], tap: SingerTap, tools: TapTools): Promise<number> {
  const options = parseArguments(argv, tap)
  if (options === 'answered') return 0
  if (options.about) return tell(aboutText(tap.about, options.format), tools)
  const config = await configOf(options.config ?? [], tap, tools)
  if (options.discover) {
    return tell(JSON.stringify({ streams: await tap.discover(config, tools) }, null, 2), tools)
  }
  if (config === undefined) {
    throw new ConnectorError(
      'config',
      'The option --config is missing: name the file with the settings.',
    )
  }
  if (options.test) return test(await tap.check(config, tools), tools)
  return sync(config, options, tap, tools)
}

async function sync(
  config: unknown,
  { catalog, properties, state }: Options,
  tap: SingerTap,
  tools: TapTools,
): Promise<number> {
  const file = catalog ?? properties
  const selection =
    file === undefined ? undefined : parseCatalog(await readJsonOption('--catalog', file))
  if (selection?.length === 0) tools.log.warn('The catalog selects nothing: no stream is read.')
  const input = parseState(state === undefined ? '' : await readOption('--state', state))
  const states = createStateWriter(input, tools.writer)
  // Some targets take the first STATE for what they have stored, so it repeats the input.
  await states.write()
  const failures = await tap.sync(config, selection, input.bookmarks, states, tools).finally(() => {
    void states.write()
    // An error comes last also where both outputs are one: `meltano config test` shows the last line.
    return tools.writer.flush()
  })
  for (const failure of failures) report(failure, tools.log)
  return failures.length === 0 ? 0 : 1
}

function parseArguments(
  argv: readonly string[],
  { about, environmentPrefix }: SingerTap,
): Options | 'answered' {
  const collect = (value: string, all: readonly string[] = []) => [...all, value]
  const command = new Command(about.name)
    .description(about.description)
    .version(`${about.name} v${about.version}`)
    .option(
      '--config <file>',
      `settings, may be repeated, later ones win; ENV reads ${environmentPrefix}_* variables, which win over files`,
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
    .option('--test', 'test the settings and the connection; starts no delta')
    .exitOverride()
    // What it would say is said once, by the error below.
    .configureOutput({ writeErr: () => {} })
  try {
    return command.parse([...argv], { from: 'user' }).opts<Options>()
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 'answered'
    throw refusedCommandLine(error)
  }
}

/** The settings of all --config options, later ones over earlier ones; undefined when there is none. */
async function configOf(
  names: readonly string[],
  tap: SingerTap,
  { mask, log }: TapTools,
): Promise<unknown> {
  if (names.length === 0) return undefined
  if (names.includes('ENV')) {
    const { about, environmentPrefix } = tap
    for (const name of unknownVariables(about.settings, environmentPrefix, process.env))
      log.warn(`The variable ${name} is no setting and is ignored.`)
  }
  const configs = await Promise.all(
    names.map((name) =>
      name === 'ENV'
        ? settingsFromEnvironment(tap.about.settings, tap.environmentPrefix, process.env)
        : readJsonOption('--config', name),
    ),
  )
  // The environment wins over files, wherever it stands.
  const ordered = [
    ...configs.filter((_, i) => names[i] !== 'ENV'),
    ...configs.filter((_, i) => names[i] === 'ENV'),
  ]
  const config = withoutUnset(mergeSettings(ordered))
  for (const secret of await tap.secrets(config)) mask.add(secret)
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
