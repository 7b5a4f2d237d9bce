/** One line of the Singer protocol, without its line break. */
export type Line = string

/** A schema, before the first record of its stream. */
export function schema(stream: string, jsonSchema: object, keyProperties: readonly string[]): Line {
  return JSON.stringify({
    type: 'SCHEMA',
    stream,
    schema: jsonSchema,
    key_properties: keyProperties,
  })
}

/** The value of a STATE message: a bookmark for each stream, by its name. */
export interface StateValue {
  readonly bookmarks: Readonly<Record<string, unknown>>
  /** Always null: streams are read side by side, and each bookmark says where to continue. */
  readonly currently_syncing: null
  readonly [key: string]: unknown
}

/** A STATE with these bookmarks, given as JSON texts by stream, and with what else `value` holds. */
export function state(value: StateValue, bookmarks: ReadonlyMap<string, string>): Line {
  const entries = [...bookmarks].map(([stream, text]) => `${JSON.stringify(stream)}:${text}`)
  const rest = JSON.stringify({ ...value, bookmarks: undefined, currently_syncing: null })
  return `{"type":"STATE","value":{"bookmarks":{${entries.join(',')}},${rest.slice(1)}}`
}

/** Rows of older versions of the stream are gone; understood by targets of the Meltano SDK. */
export function activateVersion(stream: string, version: number): Line {
  return JSON.stringify({ type: 'ACTIVATE_VERSION', stream, version })
}
