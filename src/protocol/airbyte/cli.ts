import { readFile } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { Command, CommanderError } from 'commander'
import { asConnectorError, ConnectorError, type FailureType, Stopped } from '../../errors.ts'
import { createMask, type Mask } from '../../mask.ts'
import type { Log } from '../log.ts'
import { createLineWriter, type LineWriter, ReaderGone } from '../records/line-writer.ts'
import { type ConfiguredStream, parseConfiguredCatalog } from './catalog.ts'
import * as messages from './messages.ts'
import { parseStateFile } from './state.ts'

/** The outcome of a check: what can be read, in words, or why nothing can. */
export interface CheckResult {
  readonly isReadable: boolean
  readonly message?: string
}

/** A stream that could not be read to its end; without a name all of them. */
export interface Failure {
  readonly stream?: string | undefined
  readonly error: ConnectorError
}

/** What a command works with. */
export interface CommandTools {
  readonly log: Log
  readonly mask: Mask
  readonly writer: LineWriter
  /** Aborted with `Stopped` on SIGTERM, SIGINT, or when the reader of stdout is gone. */
  readonly signal: AbortSignal
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
  const stop = new AbortController()
  const writer = createLineWriter(stdout, { onGone: () => stop.abort(new Stopped()) })
  const mask = createMask()
  const tools: CommandTools = { log: createLog(writer, mask), mask, writer, signal: stop.signal }
  const fatal = onSignals((signal) => stop.abort(new Stopped(signal)))
  let exitCode = 0
  try {
    exitCode = await parseArguments(argv, source, tools)
  } catch (error) {
    exitCode = 1
    if (!isStop(error)) report({ error: asConnectorError(error) }, tools)
  }
  await writer.flush().catch((error) => {
    // A reader that has left wants to hear nothing; the exit code tells its shell.
    exitCode = 1
    if (!(error instanceof ReaderGone)) process.stderr.write(`stdout failed: ${error.message}\n`)
  })
  fatal.finish()
  return exitCode
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
      messages.connectionStatus(result.isReadable ? 'SUCCEEDED' : 'FAILED', masked(result.message)),
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
      const catalog = parseConfiguredCatalog(
        parseJson('--catalog', await text('--catalog', files.catalog)),
      )
      const states = files.state ? parseStateFile(await text('--state', files.state)) : new Map()
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
    const input = parseJson('--config', await text('--config', file))
    for (const secret of await source.secrets(input)) mask.add(secret)
    return input
  }

  function masked(message: string | undefined): string | undefined {
    return message === undefined ? undefined : mask.text(message)
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

async function text(option: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new ConnectorError('config', `The file given by ${option} cannot be read (${code}).`)
  }
}

function parseJson(option: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ConnectorError('config', `The file given by ${option} is not JSON.`)
  }
}

function isStop(error: unknown): boolean {
  return error instanceof Stopped || error instanceof ReaderGone
}

/**
 * Stops at the first SIGTERM or SIGINT. `finish` dies by that signal, as shells and PyAirbyte
 * expect, once everything that was queued has been written.
 */
function onSignals(stop: (signal: string) => void): { finish(): void } {
  let received: NodeJS.Signals | undefined
  const signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']
  const onSignal = (signal: NodeJS.Signals) => {
    received ??= signal
    stop(signal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return {
    finish() {
      for (const signal of signals) process.off(signal, onSignal)
      if (received !== undefined) process.kill(process.pid, received)
    },
  }
}
