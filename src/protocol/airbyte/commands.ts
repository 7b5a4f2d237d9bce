import type { Writable } from 'node:stream'
import { readMessagesOption, readOption, requiredOption } from '../command-line.ts'
import type { Connector } from '../connector.ts'
import { airbyteStream, type ConfiguredStream, parseConfiguredCatalog } from './catalog.ts'
import { createCommands } from './create-commands.ts'
import * as messages from './messages.ts'
import { read } from './read.ts'
import type { CommandTools } from './report.ts'
import { parseStateFile } from './state.ts'

/**
 * Parses the command line of a source and runs the command that it names. Answers with the exit code;
 * throws a config error for a command line that is not one.
 */
export function runCommand<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  tools: CommandTools,
  stderr: Writable,
): Promise<number> {
  const { log } = tools
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
    .action(async (files) => {
      const input = await commands.settings(files)
      const chosen = await chosenStreams(requiredOption('--catalog', files.catalog))
      const states = parseStateFile(
        files.state ? await readOption('--state', files.state) : '',
        connector.name,
      )
      const source = await connector.load()
      const config = source.configure(input, log)
      commands.fail(await read(source, config, { chosen, states }, tools))
    })
  return commands.run(argv)

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
