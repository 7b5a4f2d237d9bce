import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Reply } from '../transport.ts'

/** One request as it was received. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query. */
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** Answers one request; `index` counts the requests from 0. */
export type Responder = (request: ReceivedRequest, response: ServerResponse, index: number) => void

/** A server on a free loopback port that is closed at the end of the test. */
export interface HttpService {
  readonly origin: string
  readonly requests: readonly ReceivedRequest[]
  /** Closes every connection, even during a request. */
  breakOff(): void
}

export async function startHttpService(answer: Responder): Promise<HttpService> {
  const requests: ReceivedRequest[] = []
  const server = createServer(recorded(requests, answer))
  const port = await listen(server)
  onTestFinished(() => server.closeAllConnections())
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    breakOff: () => server.closeAllConnections(),
  }
}

/** Lets a server listen on a free loopback port, which is returned, until the end of the test. */
export async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** The whole body of a reply. */
export async function replyText(reply: Reply): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of reply.body) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

function recorded(requests: ReceivedRequest[], answer: Responder): RequestListener {
  return async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part)
    const received = {
      method: request.method ?? '',
      url: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(parts).toString('utf8'),
    }
    answer(received, response, requests.push(received) - 1)
  }
}

/** Sends a status, headers and a body; an object is sent as JSON. */
export function reply(
  response: ServerResponse,
  status: number,
  body: string | object = '',
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
}
