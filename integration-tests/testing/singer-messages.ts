export type Row = Readonly<Record<string, unknown>>

/** A message of Singer, as far as the tests look into it. */
export type SingerMessage =
  | {
      readonly type: 'SCHEMA'
      readonly stream: string
      readonly schema: { readonly properties: Row }
      readonly key_properties: readonly string[]
    }
  | {
      readonly type: 'RECORD'
      readonly stream: string
      readonly record: Row
      readonly version: number
      readonly time_extracted: string
    }
  | { readonly type: 'STATE'; readonly value: SingerState }
  | { readonly type: 'ACTIVATE_VERSION'; readonly stream: string; readonly version: number }

/** What a STATE message carries and a runner stores. */
export interface SingerState {
  readonly bookmarks: Readonly<Record<string, Row>>
  readonly currently_syncing: null
}

/** The last STATE of an output. */
export function lastState(messages: readonly SingerMessage[]): SingerState | undefined {
  const last = messages.findLast(({ type }) => type === 'STATE')
  return last?.type === 'STATE' ? last.value : undefined
}
