import { Command, CommanderError } from 'commander'
import { ConnectorError, type FailureType } from '../../errors.ts'
import type { CheckResult, Failure } from '../outcome.ts'
import { readJsonOption, readOption } from '../program.ts'
import { parseConfiguredCatalog } from './catalog.ts'
import * as messages from './messages.ts'
import { report } from './report.ts'
import type { AirbyteSource, CommandTools } from './source.ts'
import { parseStateFile } from './state.ts'

/**
 * Parses the command line and runs the command that it names. Answers with the exit code; throws a
 * config error for a command line that is not one.
 */
export async function runCommand(
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
