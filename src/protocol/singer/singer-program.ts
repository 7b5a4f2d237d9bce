import { Command, CommanderError, Option } from 'commander'
import { asConnectorError, ConnectorError } from '../../ground/errors.ts'
import { createMask } from '../../ground/mask.ts'
import { about } from '../../ground/message-ids.ts'
import type { SettingsSchema } from '../../ground/settings-schema.ts'
import { refusedCommandLine } from '../command-line.ts'
import type { ConnectorFacts, Failure, Tools } from '../connector.ts'
import type { LineWriter } from '../line-writer.ts'
import { type Io, runProgram, withProcessDefaults } from '../program.ts'
import { createScreen, type Screen } from '../progress/screen.ts'
import { createSingerLog, isJsonLog, type SingerLog } from './log.ts'
import { configOf, settingRows } from './settings.ts'

/** What `--about` prints of a tap or a target. */
export interface About {
  readonly name: string
  readonly version: string
  readonly description: string
  /** The capabilities, by Meltano's names. */
  readonly capabilities: readonly string[]
  /** The JSON Schema of the settings; secrets are marked by `airbyte_secret`. */
  readonly settings: SettingsSchema
}

/** The capabilities of every tap. */
export const TAP_CAPABILITIES = [
  'catalog',
  'discover',
  'state',
  'about',
  'test',
  'log-based',
  'activate-version',
  'structured-logging',
] as const

/** The capabilities of every target. */
export const TARGET_CAPABILITIES = ['about', 'activate-version', 'structured-logging'] as const

/** The output of `--about`; the format `text` is Markdown, too. */
export function aboutText(about: About, format: AboutFormat): string {
  return format === 'json' ? aboutJson(about) : aboutMarkdown(about)
}

/** The values of `--format`. */
const ABOUT_FORMATS = ['text', 'json', 'markdown'] as const
/** One of the formats of `--about`. */
export type AboutFormat = (typeof ABOUT_FORMATS)[number]

/** The JSON form, which the tools of Meltano Hub read. */
function aboutJson({ name, version, description, capabilities, settings }: About): string {
  const about = {
    name,
    description,
    version,
    capabilities,
    settings: marked(settings),
  }
  return JSON.stringify(about, null, 2)
}

function aboutMarkdown({ name, version, description, capabilities, settings }: About): string {
  const rows = settingRows(settings).map(
    ({ path, isRequired, fallback, text }) =>
      `| \`${path}\` | ${isRequired ? 'yes' : 'no'} | ${fallback} | ${text.replaceAll('|', '\\|')} |`,
  )
  return [
    `# \`${name}\``,
    '',
    description,
    '',
    `Version: ${version}`,
    '',
    '## Capabilities',
    '',
    ...capabilities.map((capability) => `* \`${capability}\``),
    '',
    '## Settings',
    '',
    '| Setting | Required | Default | Description |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}

/** Marks secrets as Singer's tools expect. */
function marked(schema: SettingsSchema): SettingsSchema {
  const { airbyte_secret, properties, oneOf, ...rest } = schema
  return {
    ...rest,
    ...(airbyte_secret ? { secret: true, writeOnly: true } : {}),
    ...(oneOf === undefined ? {} : { oneOf: oneOf.map(marked) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, property]) => [name, marked(property)]),
          ),
        }),
  }
}

/** What a command gets. */
export interface SingerTools extends Tools {
  readonly log: SingerLog
  readonly writer: LineWriter
  /** Where progress is drawn; undefined if it must not be drawn. */
  readonly screen: Screen | undefined
}

/** A connector as a Singer program, and its environment. */
export interface SingerProgram {
  readonly about: About
  /** The prefix of environment variables with settings. */
  readonly prefix: string
  readonly env: Io['env']
}

/** The options that taps and targets share. */
export interface SharedOptions {
  readonly config?: readonly string[]
  readonly about?: true
  readonly format: AboutFormat
}

/**
 * Runs a tap or target by calling `execute`, and returns the exit code. The missing parts of `io` are those of the
 * process.
 */
export async function runSingerProgram(
  { name, capabilities }: Pick<About, 'name' | 'capabilities'>,
  { version, description, spec, secretParameters }: ConnectorFacts,
  io: Partial<Io>,
  execute: (program: SingerProgram, tools: SingerTools) => Promise<number>,
): Promise<number> {
  const { stdout, stderr, env } = withProcessDefaults(io)
  const settings = spec.connectionSpecification
  const prefix = name.toUpperCase().replaceAll('-', '_')
  const self = { about: { name, version, description, capabilities, settings }, prefix, env }
  const mask = createMask(secretParameters)
  const screen = createScreen(stderr, env, mask)
  const log = createSingerLog({ name, prefix, mask, environment: env, stderr: screen })
  // A block is drawn only if no records are written to the same terminal, and if the log is not JSON for programs.
  const isShown = stdout.isTTY !== true && !isJsonLog(env, prefix)
  const block = isShown ? screen : undefined
  return runProgram(
    { stdout, stderr },
    (program) => execute(self, { ...program, log, mask, screen: block }),
    (error) => report({ error: asConnectorError(error) }, log),
  )
}

/** Creates the parser of a command line, with the options that taps and targets share. */
export function createSingerCommand(
  { about, prefix }: SingerProgram,
  { writer }: SingerTools,
): Command {
  const collect = (value: string, all: readonly string[] = []) => [...all, value]
  const kind = about.name.split('-')[0]
  return (
    new Command(about.name)
      .description(about.description)
      .version(`${about.name} v${about.version}`)
      .option(
        '--config <file>',
        `the settings; if repeated, later files win; ENV reads ${prefix}_* variables, which win over files`,
        collect,
      )
      .option('--about', `print the capabilities and settings of this ${kind}`)
      .addOption(
        new Option('--format <format>', 'of --about').choices(ABOUT_FORMATS).default('text'),
      )
      .exitOverride()
      // `parseOptions` throws errors, so the parser itself prints none.
      .configureOutput({ writeOut: (text) => void writer.write(text), writeErr: () => {} })
  )
}

/** Parses a command line; returns `answered` if it asked for the help or the version. Throws a config error. */
export function parseOptions<Options extends SharedOptions>(
  command: Command,
  argv: readonly string[],
): Options | 'answered' {
  try {
    return command.parse([...argv], { from: 'user' }).opts<Options>()
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 'answered'
    throw refusedCommandLine(error)
  }
}

/** Prints the output of `--about`. */
export function printAbout(
  { about }: SingerProgram,
  format: AboutFormat,
  tools: SingerTools,
): number {
  return print(aboutText(about, format), tools)
}

/** Writes a text, and returns the exit code 0. */
export function print(text: string, { writer }: SingerTools): number {
  void writer.write(`${text}\n`)
  return 0
}

/** The settings of the --config options; undefined if there are none. */
export function settingsOf(
  { config = [] }: SharedOptions,
  { about, prefix, env }: SingerProgram,
  tools: SingerTools,
): Promise<unknown> {
  return configOf(config, { schema: about.settings, prefix, env }, tools)
}

/** The config error for a command line without settings. */
export function noConfig(): ConnectorError {
  return new ConnectorError(
    'config',
    'config-missing',
    'The option --config is missing: name the file with the settings.',
  )
}

/** Logs a failure. */
export function report({ stream, error }: Failure, log: SingerLog): void {
  log.error(about(stream, error), stream, error.failure)
  if (error.failure === 'system' && error.stack !== undefined) log.debug(error.stack)
}
