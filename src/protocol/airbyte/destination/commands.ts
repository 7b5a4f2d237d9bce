import type { Readable, Writable } from 'node:stream'
import { readJsonOption, requiredOption } from '../../command-line.ts'
import type { DestinationConnector } from '../../destination.ts'
import { readMessages } from '../../input-messages.ts'
import type { Io } from '../../program.ts'
import { createCommands } from '../create-commands.ts'
import * as messages from '../messages.ts'
import type { CommandTools } from '../report.ts'
import { operationsOf, parseDestinationCatalog } from './catalog.ts'
import { write } from './write.ts'

/** What of the process the commands use. */
export interface CommandIo {
  readonly stderr: Writable
  readonly env: Io['env']
  /** Opened by the command that reads it. */
  stdin(): Readable
}

/**
 * Parses the command line of a destination and runs the command that it names. Answers with the exit code;
 * throws a config error for a command line that is not one.
 */
export function runDestinationCommand<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  tools: CommandTools,
  { stderr, env, stdin }: CommandIo,
): Promise<number> {
  const { log, signal } = tools
  const commands = createCommands(`destination-${connector.name}`, connector, tools, stderr)
  commands.addCheck(async (input) => {
    const destination = await connector.load()
    return destination.check(destination.configure(input, log), tools)
  })
  commands
    .add('discover', 'list the objects and what can be done to them')
    .action(async (files) => {
      const input = await commands.settings(files)
      const destination = await connector.load()
      const objects = destination.objects(destination.configure(input, log))
      commands.say(messages.destinationCatalog(objects.flatMap(operationsOf)))
    })
  commands
    .add('write', 'write the records of stdin')
    .option('--catalog <file>', 'the configured catalog')
    .action(async (files) => {
      const settings = await commands.settings(files)
      const catalog = await readJsonOption('--catalog', requiredOption('--catalog', files.catalog))
      const destination = await connector.load()
      const config = destination.configure(settings, log)
      const streams = parseDestinationCatalog(catalog, destination.objects(config))
      if (streams.length === 0) log.warn('The catalog selects nothing: no record is written.')
      const input = readMessages(stdin(), signal)
      const attempt = Number(env['WORKER_JOB_ATTEMPT'] ?? 0) || 0
      commands.fail(await write(destination, config, { streams, input, attempt }, tools))
    })
  return commands.run(argv)
}
