import { readProjectJson } from '../project-files.ts'

/** A JSON Schema, draft 7, of type object. */
export interface StreamSchema {
  readonly properties: Readonly<Record<string, unknown>>
  readonly [keyword: string]: unknown
}

/** The schema of a stream's records as the service sends them: `schemas/<stream>.json`. */
export function readStreamSchema(stream: string): StreamSchema {
  return readProjectJson(`#schemas/${stream}`) as StreamSchema
}
