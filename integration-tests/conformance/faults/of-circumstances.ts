import { each, errorTrace, type Fault } from './fault.ts'

/** Faults that show only when something is wrong around the connector. */
export const faultsOfCircumstances: readonly Fault[] = [
  {
    does: 'ends with 0 though a stream does not exist',
    brokenRule: 'a stream that does not exist is refused',
    command: 'read',
    exitCode: 0,
  },
  {
    does: 'calls a stream that does not exist a fault of its own',
    brokenRule: 'a stream that does not exist is refused',
    command: 'read',
    lines: each('TRACE', (message) => {
      if (message.trace.error) message.trace.error.failure_type = 'system_error'
      return message
    }),
  },
  {
    does: 'reads nothing because of one stream that does not exist',
    brokenRule: 'a stream that does not exist stops no other',
    command: 'read',
    lines: each('TRACE', (message) => (message.trace.error ? message : [])),
  },
  {
    does: 'reports a config error before one that a retry would cure',
    brokenRule: 'errors come last, those that a retry cures first',
    command: 'read',
    lines: (lines) => [...lines, JSON.stringify(errorTrace('transient', 'people'))],
  },
  {
    does: 'reports errors before it has read the others',
    brokenRule: 'errors come last, those that a retry cures first',
    command: 'read',
    lines: (lines) => {
      const isError = (line: string) => JSON.parse(line).trace?.error !== undefined
      return [...lines.filter(isError), ...lines.filter((line) => !isError(line))]
    },
  },
  {
    does: 'takes any configuration',
    brokenRule: 'a wrong configuration is refused',
    command: 'read',
    lines: each('TRACE', () => []),
    exitCode: 0,
  },
  {
    does: 'repeats a wrong configuration to the user',
    brokenRule: 'a refusal tells no secret',
    command: 'read',
    lines: each('TRACE', (message) => {
      if (message.trace.error) message.trace.error.message += ' {"client_secret":"emulator-secret"}'
      return message
    }),
  },
  {
    does: 'needs its own folder',
    brokenRule: 'a read is the same by eval in a shell that stands elsewhere',
    command: 'read',
    needsOwnFolder: true,
  },
  {
    does: 'exits with lines still queued',
    brokenRule: 'a read is the same into a slow pipe',
    command: 'read',
    ending: 'exit without drain',
  },
  {
    does: 'catches SIGTERM and exits with 143',
    brokenRule: 'SIGTERM ends a read by the signal',
    command: 'read',
    ending: 'exit 143',
  },
  {
    does: 'claims success when its reader has left',
    brokenRule: 'a read ends when its reader leaves',
    command: 'read',
    ending: 'swallow EPIPE',
  },
  {
    does: 'ends a file before the end',
    brokenRule: 'a read is the same into a file',
    command: 'read',
    onlyIntoAFile: true,
    lines: (lines) => lines.slice(0, lines.length / 2),
  },
  {
    does: 'takes an empty list of states for an error',
    brokenRule: 'a read is the same with an empty list of states',
    command: 'read',
    onlyWithState: /^\[\]$/,
    exitCode: 1,
  },
  {
    does: 'takes an empty state file for an error',
    brokenRule: 'a read is the same with an empty state file',
    command: 'read',
    onlyWithState: /^$/,
    exitCode: 1,
  },
  {
    does: 'does not know global states',
    brokenRule: 'states in a global state are taken as well',
    command: 'read',
    onlyWithState: /"GLOBAL"/,
    ignoresState: true,
  },
  {
    does: 'reads nothing where a state was reset',
    brokenRule: 'a state of null begins a stream again',
    command: 'read',
    onlyWithState: /"stream_state":null/,
    lines: each('RECORD', () => []),
  },
]
