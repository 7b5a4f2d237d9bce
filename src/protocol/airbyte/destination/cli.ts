import type { Readable } from 'node:stream'
import type { DestinationConnector } from '../../destination.ts'
import type { Io } from '../../program.ts'
import { runConnector } from '../cli.ts'

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
    const { runDestinationCommand } = await import('./commands.ts')
    return runDestinationCommand(argv, connector, tools, { stderr, env, stdin })
  })
}
