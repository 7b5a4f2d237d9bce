/** A message of the Airbyte protocol, as far as the rules look into it. */
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

/** A message of Singer, as far as the rules look into it. */
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

/** What a STATE message carries and a runner stores. */
export interface SingerState {
  readonly bookmarks: Readonly<Record<string, SingerRow>>
  readonly currently_syncing: null
}
