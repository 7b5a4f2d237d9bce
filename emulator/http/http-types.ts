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
  /** The host of the real service that it is meant for; undefined for a path of neither. */
  readonly host: 'api' | 'authentication' | undefined
  /** The tenant in the path of the authentication host. */
  readonly tenant: string | undefined
  /** The query as it was sent, without the question mark. */
  readonly query: string
  readonly parameters: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A response of the service: with a whole body, or one that is sent in parts. */
export interface ServiceResponse {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: string | Buffer | AsyncIterable<Buffer>
}

/** A JSON response; default status 200. */
export function json(body: string | Buffer, status = 200): ServiceResponse {
  return { status, headers: { 'content-type': 'application/json; charset=utf-8' }, body }
}
