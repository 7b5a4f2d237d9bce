import type { FailureType } from '../../ground/errors.ts'

/** One line of the Airbyte protocol 0.18.0, without its line break. */
export type AirbyteLine = string

/** Levels of LOG messages. */
export type Level = 'FATAL' | 'ERROR' | 'WARN' | 'INFO' | 'DEBUG' | 'TRACE'

/** The states of a stream within a sync, in their order. */
export type StreamStatus = 'STARTED' | 'RUNNING' | 'COMPLETE' | 'INCOMPLETE'

/** The platform cuts error messages at this length. */
const MAX_MESSAGE = 50_000
const MAX_STACK = 100_000

export function log(level: Level, message: string): AirbyteLine {
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

/** What can be done to the objects of a destination. */
export function destinationCatalog(operations: readonly object[]): AirbyteLine {
  return line('DESTINATION_CATALOG', { destination_catalog: { operations } })
}

/** A checkpoint; `recordCount` is the number of records of the stream since its previous one. */
export function state(stream: string, blob: object, recordCount: number): AirbyteLine {
  return line('STATE', {
    state: {
      type: 'STREAM',
      stream: { stream_descriptor: { name: stream }, stream_state: blob },
      sourceStats: { recordCount },
    },
  })
}

/** A status; `quotaReset` tells that the service asks to wait until then (RATE_LIMITED). */
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

/** What an error tells: the sentence for people, and for developers what is behind it. */
export interface ErrorFacts {
  readonly message: string
  readonly failure: FailureType
  readonly stream?: string | undefined
  readonly internal?: string | undefined
  readonly stack?: string | undefined
}

export function error({ message, failure, stream, internal, stack }: ErrorFacts): AirbyteLine {
  return trace('ERROR', {
    error: {
      message: message.slice(0, MAX_MESSAGE),
      failure_type: `${failure}_error`,
      ...(internal === undefined ? {} : { internal_message: internal.slice(0, MAX_MESSAGE) }),
      ...(stack === undefined ? {} : { stack_trace: stack.slice(0, MAX_STACK) }),
      ...(stream === undefined ? {} : { stream_descriptor: { name: stream } }),
    },
  })
}

/** How many rows of a stream are to come in this sync, about. */
export function estimate(stream: string, rows: number): AirbyteLine {
  return trace('ESTIMATE', { estimate: { name: stream, type: 'STREAM', row_estimate: rows } })
}

/** An event that a platform counts; `type` is one of a fixed set. */
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
