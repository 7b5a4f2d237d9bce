import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer } from './connections.ts'
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
      toStderr(`the handler threw (${name}); the delivery was answered 500`)
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
