import type { Writable } from 'node:stream'
import { asConnectorError } from '../../errors.ts'
import { createMask } from '../../mask.ts'
import { type Program, runProgram } from '../program.ts'
import * as messages from './messages.ts'
import { createLog, report } from './report.ts'
import type { AirbyteSource, CommandTools } from './source.ts'

/**
 * Runs one command of the Airbyte protocol and answers with the exit code: 0 only when the command
 * did all it was asked for. Never throws; every error becomes a TRACE message.
 */
export async function runAirbyte(
  argv: readonly string[],
  source: AirbyteSource,
  stdout: Writable = process.stdout,
): Promise<number> {
  const mask = createMask()
  const isDebug = argv.includes('--debug') || process.env['LOG_LEVEL']?.toLowerCase() === 'debug'
  const toolsOf = (program: Program): CommandTools => ({
    ...program,
    mask,
    log: createLog(program.writer, mask, isDebug),
  })
  return runProgram(
    stdout,
    (program) => run(argv, source, toolsOf(program)),
    (error, program) => report({ error: asConnectorError(error) }, toolsOf(program)),
  )
}

async function run(
  argv: readonly string[],
  source: AirbyteSource,
  tools: CommandTools,
): Promise<number> {
  // Platforms ask for the specification again and again: the parser of options is not loaded for it.
  if (argv.length === 1 && argv[0] === 'spec') {
    void tools.writer.write(`${messages.spec(source.spec())}\n`)
    return 0
  }
  const { runCommand } = await import('./commands.ts')
  return runCommand(argv, source, tools)
}
