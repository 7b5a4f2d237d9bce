import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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

/**
 * Keeps a server from having more than `most` connections: a new one takes the place of that which has neither
 * begun a request nor got an answer for longest, so that nobody is shut out by those who say nothing. `onClosed`
 * is called for each that is closed.
 */
export function boundConnections(server: Server, most: number, onClosed: () => void): void {
  /** In the order in which something last happened on them. */
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
