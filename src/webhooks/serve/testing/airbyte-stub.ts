import { type Stub, type StubAnswer, startStub } from './start-stub.ts'

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
