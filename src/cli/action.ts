import type { Config } from '../config/config.ts'
import type { Log } from '../protocol/connector.ts'
import type { ConnectorError } from '../protocol/errors.ts'
import type { Mask } from '../protocol/mask.ts'
import type { Io, Program } from '../protocol/program.ts'
import type { Screen } from '../protocol/progress/screen.ts'
import type { ExitCode } from './exit-code.ts'
import type { Asked } from './questions.ts'

/** What a command of `protime` works with. */
export interface ActionTools {
  readonly config: Config
  /** The JSON of `--config`, for parts that have settings of their own in it. */
  readonly input: unknown
  /** Writes one JSON line to stdout; a promise when the reader is behind. */
  say(value: unknown): Promise<void> | undefined
  /** Writes lines of text to stdout, for people. */
  print(text: string): Promise<void> | undefined
  /** Words on stderr. Secrets are masked. */
  readonly log: CommandLog
  readonly mask: Mask
  /** Aborted when the process is to stop, or when its output is closed. */
  readonly signal: AbortSignal
  /** See `Program.allowToEnd`. */
  readonly allowToEnd: Program['allowToEnd']
  /** Where a sync shows how far it is. */
  readonly screen: Screen
  readonly env: Io['env']
}

export interface CommandLog extends Log {
  /** Of what has failed while the command goes on, or is told in its result. */
  error(message: string): void
}

/** What a command does; answers with the exit code. */
export type Action = (tools: ActionTools) => Promise<ExitCode>

/** What a command makes of a configuration that cannot be used; answers with the exit code. */
export type Refuse = (
  error: ConnectorError,
  tools: Pick<ActionTools, 'say' | 'log' | 'mask' | 'screen' | 'env'>,
) => ExitCode | Promise<ExitCode>

/**
 * Runs the action of the command that the command line names, with the configuration of `--config`. One
 * that cannot be used is an error of the program, unless `refuse` makes something else of it.
 */
export type Act = (action: Action, refuse?: Refuse) => Promise<void>

/** What a command works with that makes the configuration. */
export type BareTools = Pick<ActionTools, 'log' | 'mask' | 'signal'> & Asked

/** Runs an action that needs no configuration. */
export type BareAct = (action: (tools: BareTools) => Promise<ExitCode>) => Promise<void>
