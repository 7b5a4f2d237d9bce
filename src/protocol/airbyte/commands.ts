import { Command, CommanderError } from 'commander'
import { ConnectorError, type FailureType } from '../../errors.ts'
import { refusedCommandLine } from '../command-line.ts'
import { readJsonOption, readMessagesOption, readOption } from '../option-files.ts'
import type { CheckResult, Failure } from '../outcome.ts'
import { type ConfiguredStream, parseConfiguredCatalog } from './catalog.ts'
import * as messages from './messages.ts'
import { report } from './report.ts'
import type { AirbyteSource, CommandTools } from './source.ts'
import { parseStateFile } from './state.ts'

/** The exit code of a program that was called without a command. */
const USAGE = 2

/**
 * Parses the command line and runs the command that it names. Answers with the exit code; throws a
 * config error for a command line that is not one.
 */
export async function runCommand(
  argv: readonly string[],
  source: AirbyteSource,
  tools: CommandTools,
): Promise<number> {
  const { log, mask, writer } = tools
  let exitCode = 0
  const program = new Command(source.name).version(source.version).exitOverride()
  const say = (line: string) => void writer.write(`${line}\n`)
  // What it would say of a command line that it refuses is said once, by the error below.
  program.configureOutput({ writeErr: () => {} })

  withDebug(program.command('spec'))
    .description('print the specification of the configuration')
    .action(() => say(messages.spec(source.spec())))
  withFiles(program.command('check').description('test a configuration')).action(async (files) => {
    const result = await check(required('--config', files.config))
    say(
      messages.connectionStatus(
        result.isReadable ? 'SUCCEEDED' : 'FAILED',
        mask.text(result.message),
      ),
    )
  })
  withFiles(program.command('discover').description('list the streams')).action(async (files) => {
    say(
      messages.catalog(
        await source.discover(await config(required('--config', files.config)), tools),
      ),
    )
  })
  withFiles(program.command('read').description('read the streams of a catalog'))
    .option('--catalog <file>', 'the configured catalog, or the output of discover')
    .option('--state <file>', 'the state of the last sync')
    .action(async (files) => {
      const settings = await config(required('--config', files.config))
      const catalog = await chosen(required('--catalog', files.catalog))
      const states = files.state
        ? parseStateFile(await readOption('--state', files.state))
        : new Map()
      exitCode = conclude(await source.read(settings, catalog, states, tools), tools)
    })
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.help') return usage(program)
    if (error.exitCode !== 0) throw refusedCommandLine(error)
  }

  return exitCode

  async function chosen(file: string): Promise<readonly ConfiguredStream[]> {
    const input = await readMessagesOption('--catalog', file)
    const { streams, isDiscovered } = parseConfiguredCatalog(input)
    if (isDiscovered)
      log.info(
        `The catalog is the output of discover: all ${streams.length} streams are read, incrementally.`,
      )
    if (streams.length === 0) log.warn('The catalog selects nothing: no stream is read.')
    return streams
  }

  async function check(file: string): Promise<CheckResult> {
    try {
      return await source.check(await config(file), tools)
    } catch (error) {
      if (error instanceof ConnectorError && error.failure === 'config') {
        return { isReadable: false, message: error.message }
      }
      throw error
    }
  }

  async function config(file: string): Promise<unknown> {
    const input = await readJsonOption('--config', file)
    for (const secret of await source.secrets(input)) mask.add(secret)
    return input
  }
}

interface Files {
  readonly config?: string
  readonly catalog?: string
  readonly state?: string
}

function withFiles(
  command: Command,
): Command & { action(run: (files: Files) => Promise<void>): Command } {
  return withDebug(command).option('--config <file>', 'the configuration')
}

function withDebug(command: Command): Command {
  return command.option('--debug', 'log every request as well, as LOG_LEVEL=debug does')
}

/** The parser would miss an option before it names the one that is mistyped, so it is required here. */
function required(option: string, file: string | undefined): string {
  if (file !== undefined) return file
  throw new ConnectorError(
    'config',
    `The command line is not valid: the option ${option} is missing. Try --help.`,
  )
}

/** Without a command nothing was asked of the protocol: its stdout stays empty. */
function usage(program: Command): number {
  process.stderr.write(program.helpInformation())
  return USAGE
}

/** Errors come last and in this order, because the first one decides whether the platform retries. */
const ORDER: readonly FailureType[] = ['transient', 'system', 'config']

function conclude(failures: readonly Failure[], tools: CommandTools): number {
  const ordered = [...failures].sort(
    (a, b) => ORDER.indexOf(a.error.failure) - ORDER.indexOf(b.error.failure),
  )
  for (const failure of ordered) report(failure, tools)
  return failures.length === 0 ? 0 : 1
}
