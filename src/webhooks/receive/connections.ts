import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How long a sender may continue to send a refused body, so that it reads the answer. */
const LINGER_MS = 1000

/** The answer, by default without headers and body. */
export interface HttpAnswer {
  readonly status: number
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

/**
 * Answers at once. If more of the request is to come, the connection is closed after the sender has stopped
 * or a second has passed: if it were closed at once, the kernel would discard the answer.
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

/**
 * Limits the connections of a server to `most`: a new connection replaces the one that has been silent for
 * longest, without a request or an answer, so that silent senders cannot shut others out. `onClosed` is
 * called for each closed connection.
 */
export function boundConnections(server: Server, most: number, onClosed: () => void): void {
  /** Ordered by their last activity. */
  const open = new Set<Socket>()
  const happened = (socket: Socket) => {
    if (open.delete(socket)) open.add(socket)
  }
  server.on('connection', (socket: Socket) => {
    const [silent] = open
    if (open.size >= most && silent !== undefined) {
      open.delete(silent)
      silent.destroy()
      onClosed()
    }
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  server.on('request', follow).on('checkContinue', follow)

  function follow({ socket }: IncomingMessage, response: ServerResponse): void {
    happened(socket)
    response.once('finish', () => happened(socket))
  }
}
