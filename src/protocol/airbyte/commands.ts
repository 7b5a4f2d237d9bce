import type { Writable } from 'node:stream'
import { Command, CommanderError } from 'commander'
import { ConnectorError, type FailureType } from '../../ground/errors.ts'
import { withId } from '../../ground/message-ids.ts'
import { secretsOf } from '../../ground/settings-schema.ts'
import { clean, LONGEST_ANSWER } from '../../ground/text.ts'
import { readJsonOption, refusedCommandLine, requiredOption, withDebug } from '../command-line.ts'
import { type CheckResult, type ConnectorFacts, checkFailure, type Failure } from '../connector.ts'
import * as messages from './airbyte-messages.ts'

/** The exit code if no command was given. */
const USAGE = 2

/** The options of a command; most of them name files. */
export interface Files {
  readonly config?: string
  readonly catalog?: string
  readonly state?: string
  readonly metrics?: string
  readonly quiet?: true
}

type FilesCommand = Command & { action(run: (files: Files) => Promise<void>): FilesCommand } & {
  option(flags: string, description: string): FilesCommand
}

/** The commands of a connector. */
export interface Commands {
  /** Adds a command with the option --config. */
  add(name: string, description: string): FilesCommand
  /** Adds `check`. An invalid configuration is a result, not an error. */
  addCheck(check: (settings: unknown) => Promise<CheckResult>): void
  /** Reads the JSON file of the option --config. Its secrets are masked from then on. */
  settings(files: Files): Promise<unknown>
  /** Writes a message. */
  say(line: messages.AirbyteLine): void
  /** Reports failures; the exit code is then 1. */
  fail(failures: readonly Failure[]): void
  /**
   * Parses the command line and runs its command. Returns the exit code; throws a config error if the command line is
   * not valid.
   */
  run(argv: readonly string[]): Promise<number>
}

/** Creates the commands of a program; `spec` is already among them. */
export function createCommands(
  name: string,
  { version, spec }: ConnectorFacts,
  tools: messages.CommandTools,
  stderr: Writable,
): Commands {
  const { mask, writer, debug } = tools
  let exitCode = 0
  const program = new Command(name).version(version).exitOverride()
  // The error below reports an invalid command line, so the parser itself prints nothing.
  program.configureOutput({ writeOut: (text) => void writer.write(text), writeErr: () => {} })
  withDebug(program.command('spec'), debug)
    .description('print the specification of the configuration')
    .action(() => say(messages.spec(spec)))
  return { add, addCheck, settings, say, fail, run }

  function add(command: string, description: string): FilesCommand {
    return withDebug(program.command(command), debug)
      .description(description)
      .option('--config <file>', 'the configuration')
  }

  function addCheck(check: (settings: unknown) => Promise<CheckResult>): void {
    add('check', 'test a configuration').action(async (files) => {
      const config = requiredOption('--config', files.config)
      const result = await settings({ config }).then(check).catch(asResult)
      const status = result.isUsable ? 'SUCCEEDED' : 'FAILED'
      const message = result.isUsable ? result.message : withId(checkFailure(result))
      say(messages.connectionStatus(status, clean(mask.text(message), LONGEST_ANSWER)))
    })
  }

  async function settings({ config }: Files): Promise<unknown> {
    const input = await readJsonOption('--config', requiredOption('--config', config))
    for (const secret of secretsOf(spec.connectionSpecification, input)) mask.add(secret)
    return input
  }

  function say(line: messages.AirbyteLine): void {
    void writer.write(`${line}\n`)
  }

  function fail(failures: readonly Failure[]): void {
    for (const failure of failures.toSorted(byFailure)) messages.report(failure, tools)
    if (failures.length > 0) exitCode = 1
  }

  async function run(argv: readonly string[]): Promise<number> {
    try {
      await program.parseAsync([...argv], { from: 'user' })
    } catch (error) {
      if (!(error instanceof CommanderError)) throw error
      if (error.code === 'commander.help') {
        // Without a command, stdout stays empty.
        stderr.write(program.helpInformation())
        return USAGE
      }
      if (error.exitCode !== 0) throw refusedCommandLine(error)
    }
    return exitCode
  }
}

function asResult(error: unknown): CheckResult {
  if (error instanceof ConnectorError && error.failure === 'config')
    return { isUsable: false, id: error.id, message: error.message }
  throw error
}

/** The order of errors: the first one decides whether the platform retries. */
const ORDER: readonly FailureType[] = ['transient', 'system', 'config']

function byFailure(a: Failure, b: Failure): number {
  return ORDER.indexOf(a.error.failure) - ORDER.indexOf(b.error.failure)
}
