import { readProjectJson } from '../project-files.ts'

/** A JSON Schema, draft 7, of type object. */
export interface StreamSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>
}

/** A JSON Schema as far as a catalog walks it. */
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly [keyword: string]: unknown
}

/** The schema of a stream's records as the service sends them: `schemas/<stream>.json`. */
export function readStreamSchema(stream: string): StreamSchema {
  return readProjectJson(`#schemas/${stream}`) as StreamSchema
}
