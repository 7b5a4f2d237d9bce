import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** How long a sender may keep sending a body that is refused, so that it reads the answer. */
const LINGER_MS = 1000

/** What is answered; no headers and no body if they are left out. */
export interface HttpAnswer {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

/**
 * Answers at once. A connection on which more of the request is to come is closed, but not before the
 * sender has stopped, or a second has passed: the kernel would take the answer back.
 */
export function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers = {}, body = '' }: HttpAnswer,
): void {
  const isRead = request.complete || !hasBody(request)
  const length = Buffer.byteLength(body)
  response.writeHead(status, {
    ...headers,
    'content-length': length,
    ...(!isRead && { connection: 'close' }),
  })
  if (isRead) return void response.end(request.method === 'HEAD' ? undefined : body)
  response.flushHeaders()
  if (length > 0) response.write(body)
  const end = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(end, LINGER_MS)
  request.once('end', end).once('close', end).resume()
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}
