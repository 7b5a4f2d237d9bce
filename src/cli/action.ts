import type { Config } from '../config.ts'
import type { Log } from '../protocol/connector.ts'
import type { ConnectorError } from '../protocol/errors.ts'
import type { Mask } from '../protocol/mask.ts'
import type { ExitCode } from './exit-code.ts'

/** What a command of `protime` works with. */
export interface ActionTools {
  readonly config: Config
  /** The JSON of `--config`, for parts that have settings of their own in it. */
  readonly input: unknown
  /** Writes one JSON line to stdout; a promise when the reader is behind. */
  say(value: unknown): Promise<void> | undefined
  /** Words on stderr. Secrets are masked. */
  readonly log: CommandLog
  readonly mask: Mask
  /** Aborted when the process is to stop, or when its output is closed. */
  readonly signal: AbortSignal
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
  tools: Pick<ActionTools, 'say' | 'log' | 'mask'>,
) => ExitCode

/**
 * Runs the action of the command that the command line names, with the configuration of `--config`. One
 * that cannot be used is an error of the program, unless `refuse` makes something else of it.
 */
export type Act = (action: Action, refuse?: Refuse) => Promise<void>
