import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Binds a server to a port of 127.0.0.1 (0: any free one) and resolves when it listens; rejects
 * when it cannot.
 */
export async function listenOn(server: Server, port: number): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}

/** The origin of a listening server. */
export function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
