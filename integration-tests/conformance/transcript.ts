import { protocolFaults } from '../airbyte-message.ts'

/** A JSON object of which nothing is known. */
export type Fields = Readonly<Record<string, unknown>>

interface Descriptor {
  readonly name: string
  readonly namespace?: string | null
}

/** A message that the protocol's definition accepts; what that leaves open stays optional here. */
export interface ProtocolMessage {
  readonly type: string
  readonly record?: {
    readonly stream: string
    readonly data: Fields
    readonly emitted_at: number
    readonly namespace?: string | null
  }
  readonly state?: {
    readonly type?: string
    readonly stream?: {
      readonly stream_descriptor: Descriptor
      readonly stream_state?: Fields | null
    }
    readonly sourceStats?: { readonly recordCount?: number }
  }
  readonly spec?: { readonly connectionSpecification: Fields; readonly advanced_auth?: Fields }
  readonly connectionStatus?: { readonly status: string; readonly message?: string }
  readonly catalog?: { readonly streams: readonly OfferedStream[] }
  readonly trace?: {
    readonly type: string
    readonly emitted_at: number
    readonly error?: {
      readonly message: string
      readonly failure_type?: string
      readonly stream_descriptor?: Descriptor
    }
    readonly stream_status?: {
      readonly stream_descriptor: Descriptor
      readonly status: string
      readonly reasons?: readonly Fields[] | null
    }
    readonly estimate?: { readonly type: string }
  }
  readonly control?: Fields
  readonly log?: { readonly level: string; readonly message: string }
}

/** A stream as a catalog describes it. */
export interface OfferedStream {
  readonly name: string
  readonly namespace?: string | null
  readonly json_schema: Fields
  readonly supported_sync_modes?: readonly string[]
  readonly source_defined_cursor?: boolean
  readonly default_cursor_field?: readonly string[]
  readonly source_defined_primary_key?: readonly (readonly string[])[]
  readonly is_resumable?: boolean
}

/** A line of stdout: the message, or why it is none. */
export interface Line {
  readonly text: string
  readonly message?: ProtocolMessage
  readonly fault?: string
}

/** Everything that one command said, and how it ended. */
export interface Transcript {
  readonly command: string
  readonly exitCode: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly lines: readonly Line[]
  /** The lines that the platform would take; it drops the others. */
  readonly messages: readonly ProtocolMessage[]
  /** Until its end: from what the circumstances did to it, or else from its start. */
  readonly seconds: number
  /** The longest time in seconds in which nothing came on stdout. */
  readonly longestPause: number
}

/** Reads the lines of an output; an end without a line break is a line too. */
export function parseOutput(stdout: string): Line[] {
  const lines = stdout.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(parseLine)
}

function parseLine(text: string): Line {
  try {
    const message = JSON.parse(text) as ProtocolMessage
    const fault = protocolFaults(message)
    return fault === '' ? { text, message } : { text, fault }
  } catch {
    return { text, fault: 'it is not JSON' }
  }
}

export function recordsOf({ messages }: Pick<Transcript, 'messages'>, stream?: string) {
  return messages.flatMap(({ record }) =>
    record !== undefined && (stream === undefined || record.stream === stream) ? [record] : [],
  )
}

export function statesOf({ messages }: Pick<Transcript, 'messages'>, stream?: string) {
  return messages.flatMap(({ state }) =>
    state !== undefined && (stream === undefined || state.stream?.stream_descriptor.name === stream)
      ? [state]
      : [],
  )
}

export function statusesOf({ messages }: Pick<Transcript, 'messages'>, stream: string): string[] {
  return messages.flatMap(({ trace }) =>
    trace?.stream_status?.stream_descriptor.name === stream ? [trace.stream_status.status] : [],
  )
}

export function errorsOf({ messages }: Pick<Transcript, 'messages'>) {
  return messages.flatMap(({ trace }) => (trace?.error === undefined ? [] : [trace.error]))
}
