import type { Readable } from 'node:stream'
import type { DestinationConnector } from '../../destination.ts'
import { readMessages } from '../../input-messages.ts'
import type { Io } from '../../program.ts'
import { TARGET_CAPABILITIES } from '../about.ts'
import {
  createSingerCommand,
  noConfig,
  parseOptions,
  report,
  runSingerProgram,
  type SharedOptions,
  type SingerProgram,
  type SingerTools,
  settingsOf,
  tellAbout,
} from '../singer-program.ts'
import { write } from './write.ts'

type InputIo = Partial<Io> & { readonly stdin?: Readable }

/**
 * Runs a target by the command line of the Meltano SDK and answers with the exit code. What is left out
 * of `io` is the process's own.
 */
export function runSingerTarget<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  io: InputIo = {},
): Promise<number> {
  const name = `target-${connector.name}`
  return runSingerProgram(
    { name, capabilities: TARGET_CAPABILITIES },
    connector,
    io,
    (program, tools) => execute(argv, connector, program, { ...tools, io }),
  )
}

async function execute<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  program: SingerProgram,
  tools: SingerTools & { readonly io: InputIo },
): Promise<number> {
  const options = parseOptions<SharedOptions>(createSingerCommand(program, tools), argv)
  if (options === 'answered') return 0
  if (options.about) return tellAbout(program, options.format, tools)
  const settings = await settingsOf(options, program, tools)
  if (settings === undefined) throw noConfig()
  const destination = await connector.load()
  const config = destination.configure(settings, tools.log)
  const input = readMessages(tools.io.stdin ?? process.stdin, tools.signal)
  const failures = await write(destination, config, input, tools)
  for (const failure of failures) report(failure, tools.log)
  return failures.length === 0 ? 0 : 1
}
