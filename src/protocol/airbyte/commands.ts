import { Command, CommanderError } from 'commander'
import {
  readJsonOption,
  readMessagesOption,
  readOption,
  refusedCommandLine,
  requiredOption,
} from '../command-line.ts'
import type { CheckResult, Connector, Failure } from '../connector.ts'
import { ConnectorError, type FailureType } from '../errors.ts'
import { type Io, NEXT_FROM_STATE } from '../program.ts'
import { metricsVariable, observed } from '../progress/observed.ts'
import { createScreen } from '../progress/screen.ts'
import type { SyncObserver } from '../progress/sync-observer.ts'
import { secretsOf } from '../settings-schema.ts'
import { airbyteStream, type ConfiguredStream, parseConfiguredCatalog } from './catalog.ts'
import * as messages from './messages.ts'
import { createEstimates, read } from './read.ts'
import { type CommandTools, report } from './report.ts'
import { parseStateFile } from './state.ts'

/** The exit code of a program that was called without a command. */
const USAGE = 2

/**
 * Parses the command line and runs the command that it names. Answers with the exit code; throws a
 * config error for a command line that is not one.
 */
export async function runCommand<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  tools: CommandTools,
  { stdout, stderr, env }: Io,
): Promise<number> {
  const { log, mask, writer } = tools
  let exitCode = 0
  const program = new Command(`source-${connector.name}`).version(connector.version).exitOverride()
  const say = (line: string) => void writer.write(`${line}\n`)
  // What it would say of a command line that it refuses is said once, by the error below.
  program.configureOutput({ writeOut: (text) => void writer.write(text), writeErr: () => {} })

  withDebug(program.command('spec'))
    .description('print the specification of the configuration')
    .action(() => say(messages.spec(connector.spec)))
  withFiles(program.command('check').description('test a configuration')).action(async (files) => {
    const { isReadable, message } = await check(requiredOption('--config', files.config))
    const status = isReadable ? 'SUCCEEDED' : 'FAILED'
    say(messages.connectionStatus(status, mask.text(message)))
  })
  withFiles(program.command('discover').description('list the streams')).action(async (files) => {
    const input = await settings(requiredOption('--config', files.config))
    const source = await connector.load()
    const streams = source.streams(source.configure(input, log))
    say(messages.catalog(streams.map(airbyteStream)))
  })
  withFiles(program.command('read').description('read the streams of a catalog'))
    .option('--catalog <file>', 'the configured catalog, or the output of discover')
    .option('--state <file>', 'the state of the last sync')
    .option(
      '--metrics <file>',
      `write metrics of the sync for Prometheus at its end; ${metricsVariable(connector.name)} names the file too`,
    )
    .option('--quiet', 'show no progress of the sync: warnings, errors and its summary alone')
    .action(async (files) => {
      exitCode = conclude(await observed(shownBy(files), sync(files)), tools)
    })
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.code === 'commander.help') {
      // Without a command nothing was asked of the protocol: its stdout stays empty.
      stderr.write(program.helpInformation())
      return USAGE
    }
    if (error.exitCode !== 0) throw refusedCommandLine(error)
  }

  return exitCode

  function sync(files: Files) {
    return async (observer: SyncObserver): Promise<readonly Failure[]> => {
      const input = await settings(requiredOption('--config', files.config))
      const chosen = await chosenStreams(requiredOption('--catalog', files.catalog))
      const states = parseStateFile(
        files.state ? await readOption('--state', files.state) : '',
        connector.name,
      )
      const source = await connector.load()
      const config = source.configure(input, log)
      return read(source, config, { chosen, states }, { ...tools, observer })
    }
  }

  /** The messages are on stdout: a block has a terminal for itself, or there is none. */
  function shownBy({ metrics = env[metricsVariable(connector.name)], quiet }: Files) {
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
    if (streams.length === 0) log.warn('The catalog selects nothing: no stream is read.')
    return streams
  }

  /** A configuration that cannot be used is a result too. */
  async function check(file: string): Promise<CheckResult> {
    try {
      const input = await settings(file)
      const source = await connector.load()
      return await source.check(source.configure(input, log), tools)
    } catch (error) {
      if (error instanceof ConnectorError && error.failure === 'config') {
        return { isReadable: false, message: error.message }
      }
      throw error
    }
  }

  async function settings(file: string): Promise<unknown> {
    const input = await readJsonOption('--config', file)
    for (const secret of secretsOf(connector.spec.connectionSpecification, input)) mask.add(secret)
    return input
  }
}

interface Files {
  readonly config?: string
  readonly catalog?: string
  readonly state?: string
  readonly metrics?: string
  readonly quiet?: true
}

function withFiles(
  command: Command,
): Command & { action(run: (files: Files) => Promise<void>): Command } {
  return withDebug(command).option('--config <file>', 'the configuration')
}

function withDebug(command: Command): Command {
  return command.option('--debug', 'log every request as well, as LOG_LEVEL=debug does')
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
