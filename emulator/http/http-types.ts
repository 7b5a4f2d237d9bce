import type { IncomingHttpHeaders } from 'node:http'

/** A request as the service sees it. */
export interface ServiceRequest {
  /** Counts all requests since the start, from 1. */
  readonly number: number
  readonly method: string
  /** The path and the query, as sent. */
  readonly target: string
  /**
   * The path, as sent, below the API's prefix (`/people`) or the tenant's root (`/connect/token`).
   */
  readonly path: string
  /** Which of the two hosts of the real service it was for; undefined for any other path. */
  readonly host: 'api' | 'authentication' | undefined
  /** The tenant in the path of the authentication host. */
  readonly tenant: string | undefined
  /** The query as it was sent, without the question mark. */
  readonly query: string
  readonly parameters: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What goes back: a whole body, or one that arrives in parts. */
export interface ServiceResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Buffer | AsyncIterable<Buffer>
}

/** A JSON answer with status 200 unless told otherwise. */
export function json(body: string, status = 200): ServiceResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body }
}
