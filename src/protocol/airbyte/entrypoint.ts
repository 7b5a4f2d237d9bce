import type { Readable } from 'node:stream'
import { asConnectorError } from '../../ground/errors.ts'
import { createMask } from '../../ground/mask.ts'
import { debugSwitch } from '../command-line.ts'
import type { Connector, ConnectorFacts } from '../connector.ts'
import type { DestinationConnector } from '../destination.ts'
import { type Io, type Program, runProgram, withProcessDefaults } from '../program.ts'
import * as messages from './airbyte-messages.ts'

/**
 * Runs one command of the Airbyte protocol and returns the exit code, which is 0 only if the command did everything
 * that it was asked for. Never throws: every error becomes a TRACE message. The missing parts of `io` are those of
 * the process.
 */
export function runAirbyte<Config>(
  argv: readonly string[],
  connector: Connector<Config>,
  io: Partial<Io> = {},
): Promise<number> {
  return runConnector(argv, connector, io, async (tools, own) => {
    const { runCommand } = await import('./source-commands.ts')
    return runCommand(argv, connector, tools, own)
  })
}

/** The shared part of sources and destinations. `run` is called for every command except `spec`. */
export async function runConnector(
  argv: readonly string[],
  facts: ConnectorFacts,
  io: Partial<Io>,
  run: (tools: messages.CommandTools, io: Io) => Promise<number>,
): Promise<number> {
  const { stdout, stderr, env } = withProcessDefaults(io)
  const mask = createMask(facts.secretParameters)
  const debug = debugSwitch(env)
  const toolsOf = (program: Program): messages.CommandTools => ({
    ...program,
    mask,
    debug,
    log: messages.createLog(program.writer, mask, debug),
  })
  return runProgram(
    { stdout, stderr },
    async (program) => {
      // Platforms request the specification often, so nothing else is loaded for it.
      if (argv.length === 1 && argv[0] === 'spec') {
        void program.writer.write(`${messages.spec(facts.spec)}\n`)
        return 0
      }
      return run(toolsOf(program), { stdout, stderr, env })
    },
    (error, program) => messages.report({ error: asConnectorError(error) }, toolsOf(program)),
  )
}

/**
 * Runs one command of an Airbyte destination and returns the exit code, which is 0 only if everything was written.
 * Never throws: every error becomes a TRACE message. The missing parts of `io` are those of the process.
 */
export function runAirbyteDestination<Config>(
  argv: readonly string[],
  connector: DestinationConnector<Config>,
  io: Partial<Io> & { readonly stdin?: Readable } = {},
): Promise<number> {
  const stdin = () => io.stdin ?? process.stdin
  return runConnector(argv, connector, io, async (tools, { stderr, env }) => {
    const { runDestinationCommand } = await import('./destination-commands.ts')
    return runDestinationCommand(argv, connector, tools, { stderr, env, stdin })
  })
}
