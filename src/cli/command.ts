import type { Readable, Writable } from 'node:stream'
import { InvalidArgumentError } from 'commander'
import type { Config } from '../config/config.ts'
import type { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import {
  failureLine,
  type IdentifiedMessage,
  messageLines,
  type Remedies,
} from '../ground/message-ids.ts'
import { logLines, nearest } from '../ground/text.ts'
import type { Time } from '../http/clock.ts'
import type { Log } from '../protocol/connector.ts'
import type { Io, Program } from '../protocol/program.ts'
import { red, type Screen } from '../protocol/progress/screen.ts'

/** The exit codes of `protime`. */
export const EXIT = {
  done: 0,
  /** Another attempt may succeed, or records of `write` were rejected. */
  failed: 1,
  /** The command line is wrong. `exitCodeOf` has the same for everything else that only a person can correct. */
  usage: 2,
  /** A comparison found differences. */
  differs: 3,
  /** The requested item does not exist. */
  notFound: 4,
} as const

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** A command line that makes no sense; nothing was done. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** A terminal, or any input with one answer per line. */
export interface Asked {
  readonly stdin: Readable & { readonly isTTY?: boolean }
  readonly stderr: Writable
  readonly signal: AbortSignal
}

/** The tools of a command of `protime`. */
export interface ActionTools {
  readonly config: Config
  /** The JSON of `--config`, for parts that have their own settings in it. */
  readonly input: unknown
  /** The file of `--config`. */
  readonly configFile: string
  /** Writes one JSON line to stdout; a promise when the reader is behind. */
  say(value: unknown): Promise<void> | undefined
  /** Writes lines of text to stdout, for people. */
  print(text: string): Promise<void> | undefined
  /** The log on stderr. Secrets are masked. */
  readonly log: CommandLog
  readonly mask: Mask
  /** Aborted when the process has to stop, or when its output is closed. */
  readonly signal: AbortSignal
  /** See `Program.allowToEnd`. */
  readonly allowToEnd: Program['allowToEnd']
  /** The screen for the progress of a sync. */
  readonly screen: Screen
  /** Whether to write only warnings, errors and the result. */
  readonly isQuiet: boolean
  readonly env: Io['env']
  /** For waits that tests shorten. */
  readonly time?: Pick<Time, 'sleep'> | undefined
}

export interface CommandLog extends Log {
  /** For failures while the command continues, or that are in its result. */
  error(message: IdentifiedMessage): void
}

/** Executes a command; returns the exit code. */
export type CommandAction = (tools: ActionTools) => Promise<ExitCode>

/** Handles an unusable configuration; returns the exit code. */
export type Refuse = (
  error: ConnectorError,
  tools: Pick<ActionTools, 'say' | 'log' | 'mask' | 'screen' | 'isQuiet' | 'env'>,
) => ExitCode | Promise<ExitCode>

/**
 * Runs the action of the command line, with the configuration of `--config`. An unusable configuration is an
 * error of the program, unless `refuse` handles it.
 */
export type Act = (action: CommandAction, refuse?: Refuse) => Promise<void>

/** The tools of a command that needs no configuration. */
export type BareTools = Pick<ActionTools, 'log' | 'mask' | 'signal' | 'print'> & Asked

/** Runs an action that needs no configuration. */
export type BareAct = (action: (tools: BareTools) => Promise<ExitCode>) => Promise<void>

/** How `protime` does what messages suggest. */
export const REMEDIES: Remedies = {
  readAnew: 'run protime sync --rewrite, which reads every stream again',
  leaveOut: 'name the others with --streams',
  listStreams: 'run protime preview, which shows all of them',
  approve:
    'pass it once to protime sync as --approve-deletes, or add it to approved_deletes in the configuration',
}

/** The default of `--config`, which `protime init` writes and the other commands read. */
export const CONFIG_FILE = 'config.json'

/** The end of a help text: command lines to copy. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ protime ${line}`).join('\n')}\n`
}

/** The parts of `NAME=VALUE`; the value may be empty and may contain further equals signs. */
export function keyAndValue(text: string): readonly [key: string, value: string] {
  const at = text.indexOf('=')
  if (at <= 0) throw new InvalidArgumentError('It must have the form NAME=VALUE.')
  return [text.slice(0, at), text.slice(at + 1)]
}

/**
 * The name, if it is one of these. Otherwise throws a UsageError that says what does not exist, such as
 * `there is no stream`, and which name was probably meant.
 */
export function knownName(name: string, names: readonly string[], lack: string): string {
  if (names.includes(name)) return name
  const meant = nearest(name, names)
  const advice =
    meant === undefined ? `choose one of ${names.join(', ')}` : `did you mean ${meant}?`
  throw new UsageError(`${lack} ${name === '' ? 'an empty name' : name}; ${advice}`)
}

/** The options of `protime write`. */
export interface WriteOptions {
  readonly from: string
  readonly dryRun?: true
  readonly mirror?: true
  readonly maxDeletes?: string
  readonly showValues?: true
  readonly by?: { readonly collection: string; readonly name: string }
}

interface CommandLogSettings {
  readonly screen: Pick<Screen, 'write' | 'isColoured'>
  readonly mask: Mask
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Evaluated at each line, because the command line is parsed after the log is created. */
  readonly isDebug: () => boolean
  readonly isQuiet: () => boolean
}

/**
 * The log of `protime` on stderr, one line each: the time in UTC, the level, the message. It is the same on a
 * terminal, where a server may run for days and users copy the lines when they ask for help.
 */
export function createCommandLog(settings: CommandLogSettings): CommandLog {
  const { screen, mask, now, isDebug, isQuiet } = settings
  return {
    info: (message) => {
      if (!isQuiet()) writeLines('INFO', logLines(mask.text(message)))
    },
    warn: (message) => writeLines('WARN', messageLines(message, mask, REMEDIES)),
    error: (message) => write(red(`ERROR ${failureLine(message, mask, REMEDIES)}`, screen)),
    debug: (message) => {
      if (isDebug()) writeLines('DEBUG', logLines(mask.text(message)))
    },
  }

  function writeLines(level: string, lines: readonly string[]): void {
    for (const line of lines) write(`${level} ${line}`)
  }

  function write(line: string): void {
    const time = `${new Date(now()).toISOString().slice(0, -'.000Z'.length)}Z`
    screen.write(`${time} ${line}\n`)
  }
}
