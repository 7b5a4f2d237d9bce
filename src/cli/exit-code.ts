import { ConnectorError } from '../protocol/errors.ts'

/** How a command of `protime` ends. */
export const EXIT = {
  done: 0,
  /** The service refused, or could not be asked. */
  failed: 1,
  /** The command line is not one. */
  usage: 2,
  /** Only a person can mend it: whoever schedules the command does not try again. */
  misconfigured: 2,
  /** What was asked for does not exist. */
  notFound: 4,
} as const

/** One of the exit codes. */
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What was asked for cannot be started here until somebody mends what the sentence says. */
export class StartError extends ConnectorError {
  override name = 'StartError'
}

/** A command line that asks for nothing sensible; nothing was done. */
export class UsageError extends Error {
  override name = 'UsageError'
}
