import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

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
