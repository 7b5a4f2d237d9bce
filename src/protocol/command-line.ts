import { ConnectorError } from '../errors.ts'

/** The config error for a command line that the parser of options refused. */
export function refusedCommandLine(error: unknown): ConnectorError {
  const text = error instanceof Error ? error.message : String(error)
  const reason = text
    .replace(/^error: /, '')
    .replaceAll('\n', ' ')
    .replace(/\.$/, '')
  return new ConnectorError('config', `The command line is not valid: ${reason}. Try --help.`)
}
