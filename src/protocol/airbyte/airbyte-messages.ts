import type { FailureType } from '../../ground/errors.ts'
import type { Mask } from '../../ground/mask.ts'
import { about, failureLine, messageLines, type Remedies } from '../../ground/message-ids.ts'
import { clean, logLines } from '../../ground/text.ts'
import type { DebugSwitch } from '../command-line.ts'
import type { Failure, Log, Tools } from '../connector.ts'
import type { LineWriter } from '../line-writer.ts'

/** One message of the Airbyte protocol 0.18.0, without its line break. */
export type AirbyteLine = string

/** The levels of LOG messages. */
type Level = 'FATAL' | 'ERROR' | 'WARN' | 'INFO' | 'DEBUG' | 'TRACE'

/** The statuses of a stream in a sync, in their order. */
export type StreamStatus = 'STARTED' | 'RUNNING' | 'COMPLETE' | 'INCOMPLETE'

/** The platform truncates error messages to this length. */
const MAX_MESSAGE = 50_000
const MAX_STACK = 100_000
const REMEDIES: Remedies = {
  readAnew: 'clear the stream in the connection, and sync again',
  leaveOut: 'deselect it in the connection',
  listStreams: 'refresh the schema of the connection',
  approve: 'add it once to approved_deletes in the configuration',
}

function log(level: Level, message: string): AirbyteLine {
  return line('LOG', { log: { level, message } })
}

export function spec(connectorSpecification: object): AirbyteLine {
  return line('SPEC', { spec: connectorSpecification })
}

export function connectionStatus(status: 'SUCCEEDED' | 'FAILED', message?: string): AirbyteLine {
  return line('CONNECTION_STATUS', {
    connectionStatus: message === undefined ? { status } : { status, message },
  })
}

export function catalog(streams: readonly object[]): AirbyteLine {
  return line('CATALOG', { catalog: { streams } })
}

/** The operations that a destination supports for its objects. */
export function destinationCatalog(operations: readonly object[]): AirbyteLine {
  return line('DESTINATION_CATALOG', { destination_catalog: { operations } })
}

/** A checkpoint. `recordCount` is the number of the stream's records since its previous checkpoint. */
export function state(stream: string, blob: object, recordCount: number): AirbyteLine {
  return line('STATE', {
    state: {
      type: 'STREAM',
      stream: { stream_descriptor: { name: stream }, stream_state: blob },
      sourceStats: { recordCount },
    },
  })
}

/** A status of a stream. `quotaReset` is set if the service asked to wait until then (RATE_LIMITED). */
export function streamStatus(stream: string, status: StreamStatus, quotaReset?: Date): AirbyteLine {
  const reasons =
    quotaReset === undefined
      ? {}
      : {
          reasons: [{ type: 'RATE_LIMITED', rate_limited: { quota_reset: quotaReset.getTime() } }],
        }
  return trace('STREAM_STATUS', {
    stream_status: { stream_descriptor: { name: stream }, status, ...reasons },
  })
}

/** The parts of an error: a message for people; its id and details for developers. */
interface ErrorFacts {
  readonly message: string
  readonly failure: FailureType
  readonly stream?: string | undefined
  readonly internal: string
  readonly stack?: string | undefined
}

function error({ message, failure, stream, internal, stack }: ErrorFacts): AirbyteLine {
  return trace('ERROR', {
    error: {
      message,
      failure_type: `${failure}_error`,
      internal_message: internal.slice(0, MAX_MESSAGE),
      ...(stack === undefined ? {} : { stack_trace: stack.slice(0, MAX_STACK) }),
      ...(stream === undefined ? {} : { stream_descriptor: { name: stream } }),
    },
  })
}

/** About how many rows of a stream this sync will read. */
export function estimate(stream: string, rows: number): AirbyteLine {
  return trace('ESTIMATE', { estimate: { name: stream, type: 'STREAM', row_estimate: rows } })
}

/** An event that the platform counts; `type` is one of a fixed set. */
export function analytics(type: string, value: string): AirbyteLine {
  return trace('ANALYTICS', { analytics: { type, value } })
}

function trace(type: string, body: object): AirbyteLine {
  // Platforms drop traces without a time.
  return line('TRACE', { trace: { type, emitted_at: Date.now(), ...body } })
}

function line(type: string, body: object): AirbyteLine {
  return JSON.stringify({ type, ...body })
}

/** What a command gets. */
export interface CommandTools extends Tools {
  readonly writer: LineWriter
  /** Whether DEBUG messages are logged. */
  readonly debug: DebugSwitch
}

/** Writes a failure as a TRACE ERROR with masked secrets. */
export function report({ stream, error: thrown }: Failure, { mask, writer }: CommandTools): void {
  const { cause, failure, id, stack } = thrown
  const details = cause instanceof Error ? `: ${cause.name}: ${cause.message}` : ''
  const text = error({
    message: failureLine(about(stream, thrown), mask, REMEDIES, { most: MAX_MESSAGE }),
    failure,
    stream,
    internal: `${id}${clean(mask.text(details))}`,
    stack: failure === 'system' ? mask.text(causeStack(cause) ?? stack ?? '') : undefined,
  })
  void writer.write(`${text}\n`)
}

function causeStack(cause: unknown): string | undefined {
  return cause instanceof Error ? cause.stack : undefined
}

/** Writes LOG messages to stdout; DEBUG messages only while the switch is on. */
export function createLog(writer: LineWriter, mask: Mask, debug: DebugSwitch): Log {
  const say = (level: Level, lines: readonly string[]) => {
    for (const line of lines) void writer.write(`${log(level, line)}\n`)
  }
  return {
    info: (message) => say('INFO', logLines(mask.text(message))),
    warn: (message) => say('WARN', messageLines(message, mask, REMEDIES)),
    debug: (message) => {
      if (debug.isOn) say('DEBUG', logLines(mask.text(message)))
    },
  }
}
