/** A run of a program: its input and its output, as the rules of its protocol check them. */
export interface ProgramRun {
  /** Null if the process was ended by a signal. */
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  /**
   * Only for Airbyte sources: the streams of the catalog, as `discover` prints them or as entries of a configured
   * catalog. Records are checked against their schemas and keys, where they have them.
   */
  readonly catalog?: { readonly streams: readonly object[] }
  /** Values of the configuration that may occur only in records and states. */
  readonly secrets?: readonly string[]
  /** Whether the output was cut off. Then only rules that hold for every beginning of an output are checked. */
  readonly isCut?: boolean
}

/**
 * Parses the messages of an output, one per line, and reports lines that are no messages. The incomplete last line of
 * a cut output is ignored.
 */
export function messagesOf<T>({ stdout, isCut }: ProgramRun): {
  readonly messages: readonly T[]
  readonly faults: readonly string[]
} {
  const lines = stdout.split('\n')
  const last = lines.pop()
  const faults = last === '' || isCut ? [] : ['the last line has no end']
  const messages: T[] = []
  for (const [i, line] of lines.entries()) {
    const message = parsed(line)
    if (typeof message === 'object' && message !== null) messages.push(message as T)
    else faults.push(`line ${i + 1} is not a JSON object`)
  }
  return { messages, faults }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

/** Shorter secrets occur in any text. */
const SHORTEST = 8

/** Whether a text contains a secret, plain or escaped for JSON or a URL. */
export function tellsSecret(text: string, { secrets = [] }: ProgramRun): boolean {
  return secrets
    .filter(({ length }) => length >= SHORTEST)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
    .some((form) => text.includes(form))
}

/** The parts of an Airbyte message that the rules check. */
export interface Message {
  readonly type: string
  readonly record?: {
    readonly stream: string
    readonly emitted_at: number
    readonly data: Readonly<Record<string, unknown>>
  }
  readonly state?: {
    readonly type: string
    readonly stream: {
      readonly stream_descriptor: { readonly name: string }
      readonly stream_state: Readonly<Record<string, unknown>>
    }
    readonly sourceStats: { readonly recordCount: number }
  }
  readonly log?: { readonly level: string; readonly message: string }
  readonly trace?: {
    readonly type: string
    readonly emitted_at: number
    readonly error?: {
      readonly message: string
      readonly failure_type: string
      readonly internal_message?: string
      readonly stack_trace?: string
      readonly stream_descriptor?: { readonly name: string }
    }
    readonly stream_status?: {
      readonly stream_descriptor: { readonly name: string }
      readonly status: string
      readonly reasons?: readonly unknown[]
    }
    readonly estimate?: { readonly name: string; readonly row_estimate: number }
    readonly analytics?: { readonly type: string; readonly value: string }
  }
  readonly connectionStatus?: { readonly status: string; readonly message?: string }
  readonly catalog?: { readonly streams: readonly CatalogStream[] }
  readonly spec?: { readonly connectionSpecification: Readonly<Record<string, unknown>> }
}

/** A stream of a catalog. */
export interface CatalogStream {
  readonly name: string
  readonly json_schema: Readonly<Record<string, unknown>> & {
    readonly properties: Readonly<Record<string, unknown>>
  }
  readonly source_defined_primary_key: readonly (readonly string[])[]
  readonly default_cursor_field: readonly string[]
  readonly [field: string]: unknown
}

/** The parts of a Singer message that the rules check. */
export type SingerMessage =
  | {
      readonly type: 'SCHEMA'
      readonly stream: string
      readonly schema: { readonly properties: SingerRow }
      readonly key_properties: readonly string[]
      readonly bookmark_properties?: readonly string[]
    }
  | {
      readonly type: 'RECORD'
      readonly stream: string
      readonly record: SingerRow
      readonly version: number
      readonly time_extracted: string
    }
  | { readonly type: 'STATE'; readonly value: SingerState }
  | { readonly type: 'ACTIVATE_VERSION'; readonly stream: string; readonly version: number }

export type SingerRow = Readonly<Record<string, unknown>>

/** The value of a STATE message, which the runner stores. */
export interface SingerState {
  readonly bookmarks: Readonly<Record<string, SingerRow>>
  readonly currently_syncing: null
}
