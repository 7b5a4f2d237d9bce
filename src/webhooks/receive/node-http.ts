import type { IncomingMessage, OutgoingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Handler, toStderr } from './create-handler.ts'

/** A request of node:http, or of Express, which changes `url` below a mounted path. */
type NodeRequest = IncomingMessage & { readonly originalUrl?: string }

/** Methods for which the Fetch API has no requests. */
const FORBIDDEN = /^(CONNECT|TRACE|TRACK)$/
/** Methods whose requests have no body in the Fetch API. */
const BODILESS = /^(GET|HEAD)$/

/**
 * Converts a Fetch handler to a listener for node:http or a handler for Express. If another handler has
 * already read the body, the request is answered with 500 at once: mount this before body parsers.
 */
export function toNode(
  handler: Handler,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    if (isConsumed(request)) {
      toStderr('the body of a delivery was read by somebody else: mount this before body parsers')
      return answer(request, response, { status: 500 })
    }
    if (FORBIDDEN.test(request.method ?? ''))
      return answer(request, response, { status: 405, headers: { allow: 'POST' } })
    respond(handler, request, response).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return
      const name = error instanceof Error ? error.name : typeof error
      toStderr(`the handler threw (${name}); the response was 500`)
      answer(request, response, { status: 500 })
    })
  }
}

async function respond(
  handler: Handler,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answered = await handler(fetchRequest(request))
  const { status, headers } = answered
  const body = Buffer.from(await answered.arrayBuffer())
  answer(request, response, { status, headers: Object.fromEntries(headers), body })
}

function isConsumed(request: IncomingMessage): boolean {
  const { readableDidRead, readableEnded, readableFlowing } = request
  return readableDidRead || readableEnded || readableFlowing === true
}

function fetchRequest(request: NodeRequest): Request {
  const { method = 'GET', originalUrl, url = '/' } = request
  const target = new URL(`http://localhost${originalUrl ?? url}`)
  const init = { method, headers: headersOf(request) }
  return BODILESS.test(method)
    ? new Request(target, init)
    : new Request(target, { ...init, body: bodyOf(request), duplex: 'half' })
}

function headersOf({ headers }: IncomingMessage): Headers {
  const pairs = Object.entries(headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  return new Headers(pairs)
}

/** For a request that stays open after its body is no longer read: it must still be answered. */
function bodyOf(request: IncomingMessage): ReadableStream<Uint8Array> {
  const chunks = request.iterator({ destroyOnReturn: false })
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(value)
      },
      async cancel() {
        await chunks.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

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
