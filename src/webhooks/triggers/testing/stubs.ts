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

/** The three endpoints of Airbyte's public API that a trigger needs, with a clock of its own. */
export interface AirbyteStub extends Stub {
  /** Jobs by id; the test ends them. */
  readonly jobs: Map<
    number,
    'pending' | 'running' | 'incomplete' | 'succeeded' | 'failed' | 'cancelled'
  >
  /** Seconds, by which tokens age. */
  clock: number
  /** Answers of every endpoint while it is set; 0 breaks connections. */
  outage: number | undefined
}

const TOKEN_SECONDS = 180

export async function startAirbyteStub(): Promise<AirbyteStub> {
  const tokens = new Map<string, number>()
  const jobs: AirbyteStub['jobs'] = new Map()
  const stub = await startStub(({ method, path, headers, body }) => {
    if (airbyte.outage !== undefined)
      return airbyte.outage === 0 ? undefined : { status: airbyte.outage }
    if (path === '/api/public/v1/applications/token') return token(body as Record<string, unknown>)
    const granted = tokens.get(String(headers['authorization']).replace('Bearer ', ''))
    if (granted === undefined || airbyte.clock - granted > TOKEN_SECONDS) return { status: 401 }
    if (method === 'POST' && path === '/api/public/v1/jobs') return start(body)
    const job = jobs.get(Number(/^\/api\/public\/v1\/jobs\/(\d+)$/.exec(path)?.[1]))
    return job === undefined ? { status: 404 } : { status: 200, body: { status: job } }
  })
  const airbyte: AirbyteStub = {
    ...stub,
    url: `${stub.url}/api/public`,
    jobs,
    clock: 0,
    outage: undefined,
  }
  return airbyte

  function token(body: Record<string, unknown>): StubAnswer {
    if (body['client_id'] !== 'app' || body['client_secret'] !== 'app secret')
      return { status: 401 }
    const value = `token ${tokens.size}`
    tokens.set(value, airbyte.clock)
    return { status: 200, body: { access_token: value } }
  }

  function start(body: unknown): StubAnswer {
    const { connectionId, jobType } = body as Record<string, unknown>
    if (connectionId !== 'live' || jobType !== 'sync') return { status: 422 }
    const isBusy = [...jobs.values()].some((status) => ['pending', 'running'].includes(status))
    if (isBusy) return { status: 409 }
    const jobId = jobs.size + 1
    jobs.set(jobId, 'running')
    return { status: 200, body: { jobId, status: 'running', jobType: 'sync' } }
  }
}
