import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { listenOn } from '../../emulator/http/http-server.ts'

/** A request as it came over the wire. */
interface Asked {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const END_OF_HEAD = '\r\n\r\n'

/** The requests of a connection, one after the other, until the client closes it. */
async function* readRequests(socket: Socket): AsyncGenerator<Asked> {
  let received = ''
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString('latin1')
      for (let next = firstRequest(received); next !== undefined; next = firstRequest(received)) {
        received = received.slice(next.length)
        yield next.asked
      }
    }
  } catch {
    // A connection that broke brings no more requests.
  }
}

function firstRequest(text: string): { asked: Asked; length: number } | undefined {
  const end = text.indexOf(END_OF_HEAD)
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  const start = end + END_OF_HEAD.length
  const length = start + Number(headers.get('content-length') ?? 0)
  if (text.length < length) return undefined
  return { asked: { method, target, headers, body: text.slice(start, length) }, length }
}

/** What goes over the wire: bytes as they are, or somebody who takes the socket over. */
export type Wire = string | Buffer | ((socket: Socket) => void | Promise<void>)

/** Answers a request; `nth` counts the requests with the same path and query, from 1. */
export type Answers = (asked: Asked, nth: number) => Wire

/** A service of which every byte is made by the test, for answers that no HTTP library would send. */
export interface RawService {
  readonly url: string
  readonly requests: readonly Asked[]
  close(): Promise<void>
}

export interface RawServiceOptions {
  /** Key and certificate, both PEM; plain http without them. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** Serves on 127.0.0.1 until `close`. */
export async function startRawService(
  answers: Answers,
  { tls }: RawServiceOptions = {},
): Promise<RawService> {
  const requests: Asked[] = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client that breaks off is what these tests are about.
    socket.on('error', () => {})
    void talk(socket)
  }
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve)
  server.on('connection', (socket: Socket) => socket.on('error', () => {}))
  await listenOn(server as never, 0)
  const { port } = server.address() as { port: number }
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }

  async function talk(socket: Socket): Promise<void> {
    for await (const asked of readRequests(socket)) {
      requests.push(asked)
      const nth = requests.filter(({ target }) => target === asked.target).length
      const wire = answers(asked, nth)
      if (typeof wire === 'function') await wire(socket)
      else socket.write(wire)
    }
  }
}
