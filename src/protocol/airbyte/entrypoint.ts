import type { Readable } from 'node:stream'
import { asConnectorError } from '../../ground/errors.ts'
import { createMask } from '../../ground/mask.ts'
import { debugSwitch } from '../command-line.ts'
import type { Connector, ConnectorFacts } from '../connector.ts'
import type { DestinationConnector } from '../destination.ts'
import { type Io, type Program, processOr, runProgram } from '../program.ts'
import * as messages from './airbyte-messages.ts'
import { type CommandTools, createLog, report } from './report.ts'

/**
 * Runs one command of the Airbyte protocol and answers with the exit code: 0 only when the command
 * did all it was asked for. Never throws; every error becomes a TRACE message. What is left out of
 * `io` is the process's own.
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

/** The frame of both kinds of connectors; `run` is called for every command but `spec`. */
export async function runConnector(
  argv: readonly string[],
  facts: ConnectorFacts,
  io: Partial<Io>,
  run: (tools: CommandTools, io: Io) => Promise<number>,
): Promise<number> {
  const { stdout, stderr, env } = processOr(io)
  const mask = createMask(facts.secretParameters)
  const debug = debugSwitch(env)
  const toolsOf = (program: Program): CommandTools => ({
    ...program,
    mask,
    debug,
    log: createLog(program.writer, mask, debug),
  })
  return runProgram(
    { stdout, stderr },
    async (program) => {
      // Platforms ask for the specification again and again: nothing else is loaded for it.
      if (argv.length === 1 && argv[0] === 'spec') {
        void program.writer.write(`${messages.spec(facts.spec)}\n`)
        return 0
      }
      return run(toolsOf(program), { stdout, stderr, env })
    },
    (error, program) => report({ error: asConnectorError(error) }, toolsOf(program)),
  )
}

/**
 * Runs one command of an Airbyte destination and answers with the exit code: 0 only when all was written
 * that had to be. Never throws; every error becomes a TRACE message. What is left out of `io` is the
 * process's own.
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
