import { readMessagesOption, readOption, requiredOption } from '../command-line.ts'
import type { Connector, Failure } from '../connector.ts'
import { type Io, NEXT_FROM_STATE } from '../program.ts'
import { metricsVariable, type ObservedSettings, observed } from '../progress/observed.ts'
import { createScreen } from '../progress/screen.ts'
import type { SyncObserver } from '../progress/sync-observer.ts'
import { airbyteStream, type ConfiguredStream, parseConfiguredCatalog } from './catalog.ts'
import { createCommands, type Files } from './create-commands.ts'
import * as messages from './messages.ts'
import { createEstimates, read } from './read.ts'
import type { CommandTools } from './report.ts'
import { parseStateFile } from './state.ts'

interface ReadOptions extends Files {
  readonly metrics?: string
  readonly quiet?: true
}

/**
 * Parses the command line of a source and runs the command that it names. Answers with the exit code;
 * throws a config error for a command line that is not one.
 */
export function runCommand<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  tools: CommandTools,
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
    .option('--quiet', 'show no progress of the sync: warnings, errors and its summary alone')
    .action(async (options: ReadOptions) => {
      commands.fail(await observed(shownBy(options), sync(options)))
    })
  return commands.run(argv)

  function sync(files: Files) {
    return async (observer: SyncObserver): Promise<readonly Failure[]> => {
      const input = await commands.settings(files)
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
    if (streams.length === 0) log.warn('The catalog selects nothing: no stream is read.')
    return streams
  }
}
