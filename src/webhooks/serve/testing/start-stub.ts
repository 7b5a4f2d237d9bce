import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request as a stub got it. */
export interface StubRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: unknown
}

export interface StubAnswer {
  readonly status: number
  readonly body?: object
}

/** An HTTP server on loopback that answers as the test says; undefined breaks the connection. */
export interface Stub {
  readonly url: string
  readonly requests: StubRequest[]
  close(): Promise<void>
}

export async function startStub(
  answer: (request: StubRequest) => StubAnswer | undefined,
): Promise<Stub> {
  const requests: StubRequest[] = []
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, body: text === '' ? undefined : JSON.parse(text) }
    requests.push(request)
    const said = answer(request)
    if (said === undefined) return void incoming.socket.destroy()
    response.writeHead(said.status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(said.body ?? {}))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
