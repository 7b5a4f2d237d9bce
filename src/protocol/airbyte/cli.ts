import type { Writable } from 'node:stream'
import { Command, CommanderError } from 'commander'
import { asConnectorError, ConnectorError, type FailureType } from '../../errors.ts'
import { createMask, type Mask } from '../../mask.ts'
import type { Log } from '../log.ts'
import type { CheckResult, Failure } from '../outcome.ts'
import { type Program, readJsonOption, readOption, runProgram } from '../program.ts'
import type { LineWriter } from '../records/line-writer.ts'
import { type ConfiguredStream, parseConfiguredCatalog } from './catalog.ts'
import * as messages from './messages.ts'
import { parseStateFile } from './state.ts'

/** What a command works with. */
export interface CommandTools extends Program {
  readonly log: Log
  readonly mask: Mask
}

/** What a connector offers; each method is called at most once in a process. */
export interface AirbyteSource {
  readonly name: string
  readonly version: string
  spec(): object
  /** Values in an unchecked configuration that must not be printed. */
  secrets(config: unknown): Promise<readonly string[]>
  check(config: unknown, tools: CommandTools): Promise<CheckResult>
  /** The streams as AirbyteStream objects. */
  discover(config: unknown, tools: CommandTools): Promise<readonly object[]>
  /** Writes records, states and statuses itself; what went wrong comes back. */
  read(
    config: unknown,
    catalog: readonly ConfiguredStream[],
    states: ReadonlyMap<string, unknown>,
    tools: CommandTools,
  ): Promise<readonly Failure[]>
}

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
  const toolsOf = (program: Program): CommandTools => ({
    ...program,
    mask,
    log: createLog(program.writer, mask),
  })
  return runProgram(
    stdout,
    (program) => parseArguments(argv, source, toolsOf(program)),
    (error, program) => report({ error: asConnectorError(error) }, toolsOf(program)),
  )
}

async function parseArguments(
  argv: readonly string[],
  source: AirbyteSource,
  tools: CommandTools,
): Promise<number> {
  const { log, mask, writer } = tools
  let exitCode = 0
  const program = new Command(source.name).version(source.version).exitOverride()
  const say = (line: string) => void writer.write(`${line}\n`)
  // stdout is the protocol's; help that was asked for is the one exception.
  program.configureOutput({ writeErr: (text) => log.warn(text.trim()) })

  program
    .command('spec')
    .description('print the specification of the configuration')
    .option('--debug')
    .action(() => say(messages.spec(source.spec())))
  withFiles(program.command('check').description('test a configuration')).action(async (files) => {
    const result = await check(files.config)
    say(
      messages.connectionStatus(
        result.isReadable ? 'SUCCEEDED' : 'FAILED',
        mask.text(result.message),
      ),
    )
  })
  withFiles(program.command('discover').description('list the streams')).action(async (files) => {
    say(messages.catalog(await source.discover(await config(files.config), tools)))
  })
  withFiles(program.command('read').description('read the streams of a catalog'))
    .requiredOption('--catalog <file>', 'the configured catalog')
    .option('--state <file>', 'the state of the last sync')
    .action(async (files) => {
      const settings = await config(files.config)
      const catalog = parseConfiguredCatalog(await readJsonOption('--catalog', files.catalog))
      const states = files.state
        ? parseStateFile(await readOption('--state', files.state))
        : new Map()
      exitCode = conclude(await source.read(settings, catalog, states, tools), tools)
    })
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0)
      throw new ConnectorError('config', `The command line is not valid: ${error.message}`)
  }

  return exitCode

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
  readonly config: string
  readonly catalog: string
  readonly state?: string
}

function withFiles(
  command: Command,
): Command & { action(run: (files: Files) => Promise<void>): Command } {
  return command.requiredOption('--config <file>', 'the configuration').option('--debug')
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

function report({ stream, error }: Failure, { mask, writer }: CommandTools): void {
  const { cause, failure, message, stack } = error
  const subject = stream === undefined ? '' : `${stream}: `
  const line = messages.error({
    message: mask.text(`${subject}${message}`),
    failure,
    stream,
    internal: cause instanceof Error ? mask.text(`${cause.name}: ${cause.message}`) : undefined,
    stack: failure === 'system' ? mask.text(causeStack(cause) ?? stack ?? '') : undefined,
  })
  void writer.write(`${line}\n`)
}

function causeStack(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.stack : undefined
}

function createLog(writer: LineWriter, mask: Mask): Log {
  const isDebug =
    process.env['LOG_LEVEL']?.toLowerCase() === 'debug' || process.argv.includes('--debug')
  const say = (level: messages.Level) => (message: string) =>
    void writer.write(`${messages.log(level, mask.text(message))}\n`)
  return { info: say('INFO'), warn: say('WARN'), debug: isDebug ? say('DEBUG') : () => {} }
}
