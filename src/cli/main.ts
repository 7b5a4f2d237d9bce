import { Command, CommanderError } from 'commander'
import { asConnectorError, ConnectorError, exitCodeOf } from '../ground/errors.ts'
import { createMask } from '../ground/mask.ts'
import { about, failureLine } from '../ground/message-ids.ts'
import { packageVersion } from '../ground/project-files.ts'
import { isBlank } from '../ground/text.ts'
import { LINK_TOKENS } from '../http/endpoints.ts'
import { type DebugSwitch, debugSwitch, withDebug } from '../protocol/command-line.ts'
import { type Io, type Program, runProgram, withProcessDefaults } from '../protocol/program.ts'
import { createScreen } from '../protocol/progress/screen.ts'
import type { ActSettings } from './act.ts'
import {
  type Act,
  type ActionTools,
  type Asked,
  type BareAct,
  CONFIG_FILE,
  createCommandLog,
  EXIT,
  type ExitCode,
  REMEDIES,
  UsageError,
} from './command.ts'
import { addClose, addHistory } from './history-commands.ts'
import { addPerson } from './person-commands.ts'
import {
  addJobCategories,
  addReferences,
  addServe,
  addWebhooks,
  addWorkLocations,
  addWrite,
} from './resource-commands.ts'
import {
  addDbt,
  addExplain,
  addInit,
  addPreview,
  addStatus,
  addSync,
  addVerify,
} from './sync-commands.ts'

/**
 * Runs one command of `protime` and returns the exit code. Never throws; every error is a message on stderr.
 * `io` defaults to the process's own streams.
 */
export async function runProtime(
  argv: readonly string[],
  io: Partial<Io> & { readonly stdin?: Asked['stdin']; readonly time?: ActionTools['time'] } = {},
): Promise<number> {
  const { stdin = process.stdin, time } = io
  const { stdout, stderr, env } = withProcessDefaults(io)
  const mask = createMask(LINK_TOKENS)
  if (env['PGPASSWORD']) mask.add(env['PGPASSWORD'])
  const debug = debugSwitch(env)
  const screen = createScreen(stderr, env, mask)
  const quiet = { isOn: false }
  const isDebug = () => debug.isOn
  const isQuiet = () => quiet.isOn
  const log = createCommandLog({ screen, mask, now: Date.now, isDebug, isQuiet })
  let failed: ExitCode | undefined
  const exitCode = await runProgram(
    { stdout, stderr },
    (program) =>
      execute(argv, { ...program, stdin, stderr, screen, debug, quiet, log, mask, env, time }),
    (error) => {
      const failure = failureOf(error)
      failed = exitCodeOf([{ error: failure }])
      stderr.write(`${failureLine(about('protime', failure), mask, REMEDIES)}\n`)
    },
    'What was changed before that stays changed.',
  )
  return failed ?? exitCode
}

interface Tools extends Program, Omit<ActSettings, 'file' | 'isQuiet'> {
  readonly stdin: Asked['stdin']
  readonly stderr: Io['stderr']
  readonly debug: DebugSwitch
  readonly quiet: { isOn: boolean }
}

async function execute(argv: readonly string[], tools: Tools): Promise<ExitCode> {
  const { writer, stderr } = tools
  let exitCode: ExitCode = EXIT.done
  let help = ''
  const program = withDebug(new Command('protime'), tools.debug)
    .description('Reads and writes a myProtime tenant, and manages its webhooks.')
    .version(packageVersion())
    .option('--config <file>', `the configuration (default: ${CONFIG_FILE})`)
    .option('--quiet', 'show only warnings, errors and the result')
    .on('option:quiet', () => {
      tools.quiet.isOn = true
    })
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void writer.write(text),
      // Its message about a wrong command line is written once, by the error below.
      writeErr: (text) => {
        help += text
      },
    })
    .exitOverride()
  // Only the code of the action is loaded, so that help and version answer at once.
  const act: Act = async (action, refuse) => {
    const { act: run } = await import('./act.ts')
    const { config: file } = program.opts<{ config?: string }>()
    const isQuiet = tools.quiet.isOn
    exitCode = await run(action, { file, isQuiet, ...tools }, refuse)
  }
  const bare: BareAct = async (action) => {
    exitCode = await action({ ...tools, print: (text) => writer.write(`${text}\n`) })
  }
  addCommands(program, act, bare)
  program.hook('preAction', (_, command) => refuseEmptyPaths(command))
  try {
    await program.parseAsync([...argv], { from: 'user' })
  } catch (error) {
    // A command without a subcommand: its help lists them.
    if (error instanceof CommanderError && error.code === 'commander.help') {
      stderr.write(help)
      return EXIT.usage
    }
    if (!(error instanceof CommanderError && error.exitCode === 0)) throw error
  }
  return exitCode
}

/** One line each: the command line of a command, whose actions are loaded when they are called. */
function addCommands(program: Command, act: Act, bare: BareAct): void {
  addInit(program, bare)
  addPreview(program, act)
  addStatus(program, act, bare)
  addSync(program, act)
  addVerify(program, act)
  addExplain(program, bare)
  addHistory(program, act)
  addClose(program, act)
  addDbt(program, bare)
  addPerson(program, act)
  addReferences(program, act)
  addJobCategories(program, act)
  addWorkLocations(program, act)
  addServe(addWebhooks(program, act), act)
  addWrite(program, act)
}

/** A script passes an empty path for a variable that is not set. */
function refuseEmptyPaths(command: Command): void {
  const isEmpty = (value: unknown) => typeof value === 'string' && isBlank(value)
  const empty = command.options.find(
    (option) =>
      /<(file|folder|address)>$/.test(option.flags) &&
      [command.getOptionValue(option.attributeName())].flat().some(isEmpty),
  )
  if (empty !== undefined) throw new UsageError(`the option ${empty.flags} is empty`)
  if (command.parent !== null) refuseEmptyPaths(command.parent)
}

function failureOf(error: unknown): ConnectorError {
  if (!(error instanceof UsageError || error instanceof CommanderError))
    return asConnectorError(error)
  const reason = error.message
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '')
  const message = `${reason}${reason.endsWith('?') ? '' : '.'} Try --help.`
  return new ConnectorError('config', 'command-line-not-valid', message)
}
