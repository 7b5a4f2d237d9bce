import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { listenOn } from '../../emulator/http/http-server.ts'
import { type Asked, readRequests } from './raw-request.ts'

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
