import type { IncomingHttpHeaders } from 'node:http'

/**
 * How a list is wrong although its answer looks right, with status 200 and with its link.
 */
export interface ListFault {
  readonly kind: /** The page lacks every second record, starting with the first. */
    | 'short'
    /** The page is empty, and no other page follows. */
    | 'empty'
    /** The page, and those that follow it, are as they were before the latest changes. */
    | 'stale'
  /** How many changes of the collection are missing from a stale list. */
  readonly changes: number
}

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
  /** The host of the real service for which it is meant; undefined for other paths. */
  readonly host: 'api' | 'authentication' | undefined
  /** The tenant in the path of the authentication host. */
  readonly tenant: string | undefined
  /** The query as it was sent, without the question mark. */
  readonly query: string
  readonly parameters: ReadonlyMap<string, string>
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** How the list in the answer is wrong. */
  readonly listFault?: ListFault | undefined
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

const codes: Readonly<Record<number, string>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  409: 'Conflict',
  410: 'Gone',
  412: 'PreconditionFailed',
  414: 'UriTooLong',
  429: 'TooManyRequests',
  500: 'InternalServerError',
  503: 'ServiceUnavailable',
}

/** The parts of a refusal besides its status and sentence. */
interface Refusal {
  readonly reasons?: readonly string[]
  /** Headers beside the content type. */
  readonly headers?: Readonly<Record<string, string>>
  /** Instead of the usual body. */
  readonly body?: string
}

/**
 * The refusal of a request: the status, a sentence, and for filters and business rules the reasons, which are also part
 * of the error's message.
 */
export class ServiceError extends Error {
  readonly status: number
  /** The body of the answer. */
  readonly body: string
  /** Headers of the answer beside its content type. */
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, sentence: string, { reasons = [], headers, body }: Refusal = {}) {
    super(reasons.length > 0 ? `${sentence}: ${reasons.join('; ')}` : sentence)
    this.name = 'ServiceError'
    this.status = status
    this.body = body ?? errorBody(status, sentence, reasons)
    this.headers = headers ?? {}
  }
}

/** The documented error body: a code and a message, and the reasons when there are some. */
export function errorBody(
  status: number,
  message: string,
  reasons: readonly string[] = [],
): string {
  const code = codes[status] ?? 'Error'
  return JSON.stringify({ error: { code, message, ...(reasons.length > 0 && { reasons }) } })
}

/** A 400 with reasons: the request cannot be answered, and why. */
export function notValid(...reasons: string[]): ServiceError {
  return new ServiceError(400, 'Request not valid', { reasons })
}

/** A 405 that names the methods which the path has. */
export function notAllowed(method: string, allowed: readonly string[]): ServiceError {
  const headers = { allow: allowed.join(', ') }
  return new ServiceError(405, `${method} is not supported here`, { headers })
}

/**
 * The parameters of a query, percent-decoded once. A plus sign is not decoded, because tokens contain it. The flag
 * `delta` has the empty text as its value. Throws 400 for malformed escapes.
 */
export function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const at = part.indexOf('=')
    const name = decode(at < 0 ? part : part.slice(0, at))
    parameters.set(name, at < 0 ? '' : decode(part.slice(at + 1)))
  }
  return parameters
}

/** Percent-decodes a part of a URL; a malformed escape is a 400. */
export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ServiceError(400, `The request URL cannot be decoded: ${text}`)
  }
}
