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

/** What an answer that refuses a request has beside its status and its sentence. */
interface Refusal {
  readonly reasons?: readonly string[]
  /** Headers beside the content type. */
  readonly headers?: Readonly<Record<string, string>>
  /** In place of the usual body. */
  readonly body?: string
}

/**
 * A request that the service refuses: the status, a sentence, and for filters and business rules
 * the reasons. The message of the error has the reasons when there are some.
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
