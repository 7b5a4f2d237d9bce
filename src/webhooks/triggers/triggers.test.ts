import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createAirbyteTrigger } from './airbyte-trigger.ts'
import { createPostTrigger } from './post-trigger.ts'
import { createRunTrigger } from './run-trigger.ts'
import { type AirbyteStub, startAirbyteStub, startStub } from './testing/stubs.ts'

const until = (isSo: () => boolean) => vi.waitUntil(isSo, { timeout: 20_000 })

const ORDER = { streams: ['clockings', 'people'], reason: 'delivery' }
const never = new AbortController().signal

describe('--run', () => {
  const folder = mkdtempSync(join(tmpdir(), 'protime-'))

  it('runs the command in a shell with the streams and the reason', async () => {
    const said = join(folder, 'said')
    const trigger = createRunTrigger(`echo "$PROTIME_STREAMS $PROTIME_REASON" > ${said}`)
    expect(await trigger(ORDER, never)).toEqual({ result: 'done', detail: 'exit code 0' })
    expect(readFileSync(said, 'utf8')).toBe('clockings,people delivery\n')
  })

  it.each([
    ['exit 3', 'exit code 3'],
    ['kill -KILL $$', 'ended by SIGKILL'],
    ['no-such-program 2> /dev/null', 'exit code 127'],
  ])('fails with what %s ends with', async (command, detail) => {
    expect(await createRunTrigger(command)(ORDER, never)).toEqual({ result: 'failed', detail })
  })

  it('fails if the system refuses to start the command', async () => {
    const outcome = await createRunTrigger(`: ${'x'.repeat(2_000_000)}`)(ORDER, never)
    expect(outcome).toEqual({ result: 'failed', detail: 'it cannot be started: spawn E2BIG' })
  })

  it('passes the end on to all processes that the command has started', async () => {
    const [begun, ended] = [join(folder, 'begun'), join(folder, 'ended')]
    const child = `trap "touch ${ended}; exit 1" TERM; touch ${begun}; while :; do sleep 0.05; done`
    const stop = new AbortController()
    const outcome = createRunTrigger(`sh -c '${child}'; exit 1`)(ORDER, stop.signal)
    await expect.poll(() => existsSync(begun)).toBe(true)
    stop.abort()
    expect((await outcome).result).toBe('failed')
    await expect.poll(() => existsSync(ended)).toBe(true)
  })

  it('kills a command that does not end when asked to', async () => {
    const begun = join(folder, 'stubborn')
    const stop = new AbortController()
    const command = `trap "" TERM; touch ${begun}; while :; do sleep 0.05; done`
    const outcome = createRunTrigger(command, 50)(ORDER, stop.signal)
    await expect.poll(() => existsSync(begun)).toBe(true)
    stop.abort()
    expect(await outcome).toEqual({ result: 'failed', detail: 'ended by SIGKILL' })
  })

  /** A job that does not end when it is asked, and that notes its process. */
  const job = (noted: string) => {
    onTestFinished(() => {
      if (isAlive(noted)) process.kill(Number(readFileSync(noted)), 'SIGKILL')
    })
    return `sh -c 'trap "" TERM; echo $$ > ${noted}; while :; do sleep 0.05; done'`
  }
  /** One that has ended and that nobody has collected is not alive. */
  const isAlive = (noted: string) => {
    const stat = `/proc/${readFileSync(noted, 'utf8').trim()}/stat`
    return existsSync(stat) && !/\) Z/.test(readFileSync(stat, 'latin1'))
  }

  it('kills the processes of the command even if its shell ends before them', async () => {
    const noted = join(folder, 'outlives')
    const stop = new AbortController()
    const outcome = createRunTrigger(`${job(noted)}; true`, 100)(ORDER, stop.signal)
    await expect.poll(() => existsSync(noted)).toBe(true)
    stop.abort()
    expect((await outcome).result).toBe('failed')
    expect(isAlive(noted)).toBe(false)
  })

  it('kills processes that a finished command has left behind', async () => {
    const noted = join(folder, 'left-behind')
    const stop = new AbortController()
    const trigger = createRunTrigger(`${job(noted)} & sleep 0.2`, 100)
    expect((await trigger(ORDER, stop.signal)).result).toBe('done')
    await expect.poll(() => existsSync(noted) && isAlive(noted)).toBe(true)
    stop.abort()
    await trigger.stopped?.()
    expect(isAlive(noted)).toBe(false)
  })
})

const FLOOD = 64 * 1024 * 1024

/** A scheduler whose answers are much too long; `sent` is how much of one the other side has let come. */
async function startFlood() {
  let sent = 0
  const part = Buffer.alloc(65_536, ' ')
  const server = createHttpServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-length': FLOOD })
    const isClosed = once(response, 'close')
    for (; sent < FLOOD && !response.destroyed; sent += part.length) {
      const isSent = new Promise((resolve) => response.write(part, resolve))
      await Promise.race([isSent, isClosed])
    }
  }).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, sent: () => sent }
}

describe('--post', () => {
  const startScheduler = async (status: number | undefined) => {
    const stub = await startStub(() => (status === undefined ? undefined : { status }))
    onTestFinished(stub.close)
    return stub
  }

  it('posts the streams and the reason', async () => {
    const stub = await startScheduler(202)
    const outcome = await createPostTrigger({ url: `${stub.url}/hooks/protime` })(ORDER, never)
    expect(outcome).toEqual({ result: 'done', detail: 'status 202' })
    expect(stub.requests).toMatchObject([{ method: 'POST', path: '/hooks/protime', body: ORDER }])
  })

  it.each([
    ['dagster', 'dagster'],
    ['a%40b', 'a@b'],
    ['100%sure', '100%sure'],
  ])(
    'authenticates with the user of the address (%s) and a password from elsewhere',
    async (written, user) => {
      const stub = await startScheduler(202)
      const url = `${stub.url.replace('//', `//${written}@`)}/hooks?of=protime`
      expect((await createPostTrigger({ url, password: 'p@ss' })(ORDER, never)).result).toBe('done')
      const authorization = `Basic ${Buffer.from(`${user}:p@ss`).toString('base64')}`
      expect(stub.requests).toMatchObject([
        { path: '/hooks?of=protime', headers: { authorization } },
      ])
    },
  )

  it('goes through the proxy that the environment names', async () => {
    const [stub, proxy] = await Promise.all([startScheduler(202), startScheduler(undefined)])
    vi.stubEnv('HTTP_PROXY', proxy.url)
    vi.stubEnv('NO_PROXY', '')
    vi.stubEnv('no_proxy', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const outcome = await createPostTrigger({ url: `${stub.url}/hooks?token=secret` })(ORDER, never)
    expect(outcome.result).toBe('failed')
    expect(outcome.detail).toContain(`the proxy ${new URL(proxy.url).host}`)
    expect(outcome.detail).not.toContain('secret')
    expect(stub.requests).toEqual([])
  })

  it.each([
    [409, 'busy'],
    [423, 'busy'],
    [429, 'busy'],
    [404, 'failed'],
    [302, 'failed'],
    [503, 'failed'],
  ])('takes status %i for %s', async (status, result) => {
    const { url } = await startScheduler(status)
    expect((await createPostTrigger({ url })(ORDER, never)).result).toBe(result)
  })

  it('fails if nobody answers', async () => {
    const { url } = await startScheduler(undefined)
    const { host } = new URL(url)
    const { result, detail } = await createPostTrigger({ url })(ORDER, never)
    expect([result, detail]).toEqual([
      'failed',
      expect.stringContaining(`no response from ${host}`),
    ])
  })

  it('does not read the answer', async () => {
    const { url, sent } = await startFlood()
    expect((await createPostTrigger({ url })(ORDER, never)).result).toBe('done')
    expect(sent()).toBeLessThan(FLOOD)
  })

  it('fails if the answer takes too long', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    expect(
      await createPostTrigger({ url: `http://127.0.0.1:${port}`, withinMs: 50 })(ORDER, never),
    ).toEqual({
      result: 'failed',
      detail: `no response from 127.0.0.1:${port} within 0.05 seconds`,
    })
  })
})

describe('--airbyte-connection', () => {
  const start = async (change: Partial<Parameters<typeof createAirbyteTrigger>[0]> = {}) => {
    const airbyte = await startAirbyteStub()
    onTestFinished(airbyte.close)
    const credentials = { clientId: 'app', clientSecret: 'app secret', connectionId: 'live' }
    const trigger = createAirbyteTrigger({
      url: airbyte.url,
      ...credentials,
      pollMs: 5,
      pendingMs: 60_000,
      ...change,
    })
    return { airbyte, trigger }
  }
  const asked = ({ requests }: AirbyteStub, method: string) =>
    requests.filter((request) => request.method === method && request.path.includes('/jobs'))

  it.each([
    ['succeeded', 'done'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
  ] as const)('waits for the end of the job: %s is %s', async (status, result) => {
    const { airbyte, trigger } = await start()
    const outcome = trigger(ORDER, never)
    await until(() => asked(airbyte, 'GET').length > 2)
    airbyte.jobs.set(1, 'incomplete')
    const before = asked(airbyte, 'GET').length
    await until(() => asked(airbyte, 'GET').length > before + 2)
    airbyte.jobs.set(1, status)
    expect(await outcome).toEqual({ result, detail: `job 1 ${status}` })
  })

  it('is busy while Airbyte runs a sync already', async () => {
    const { airbyte, trigger } = await start()
    airbyte.jobs.set(1, 'running')
    expect((await trigger(ORDER, never)).result).toBe('busy')
  })

  const tokens = ({ requests }: AirbyteStub) =>
    requests.filter(({ path }) => path.endsWith('/applications/token'))

  it('requests one token while that is valid, however often it polls the job', async () => {
    const { airbyte, trigger } = await start()
    const outcome = trigger(ORDER, never)
    await until(() => asked(airbyte, 'GET').length > 10)
    airbyte.jobs.set(1, 'succeeded')
    await outcome
    expect(tokens(airbyte)).toHaveLength(1)
  })

  it('fails if the job stays pending, and leaves it to Airbyte', async () => {
    const { airbyte, trigger } = await start({ pendingMs: 50 })
    const outcome = trigger(ORDER, never)
    await until(() => airbyte.jobs.size > 0)
    airbyte.jobs.set(1, 'pending')
    expect(await outcome).toEqual({
      result: 'failed',
      detail: 'job 1 is still pending after 0.05 seconds: check whether Airbyte has a free worker',
    })
  })

  it('fails if the status of the job can no longer be read', async () => {
    let polls = 0
    const { url, close } = await startStub(({ method, path }) => {
      if (path.endsWith('/token')) return { status: 200, body: { access_token: 'token' } }
      if (method === 'POST') return { status: 200, body: { jobId: 1, status: 'running' } }
      return polls++ % 2 === 0 ? { status: 503 } : { status: 200, body: { html: 'proxy' } }
    })
    onTestFinished(close)
    const credentials = { clientId: 'app', clientSecret: 'app secret', connectionId: 'live' }
    const trigger = createAirbyteTrigger({ url, ...credentials, pollMs: 5, pendingMs: 50 })
    expect(await trigger(ORDER, never)).toEqual({
      result: 'failed',
      detail: 'the status of job 1 could not be read for 0.05 seconds',
    })
  })

  it('knows the end of a job in any case', async () => {
    const { url, close } = await startStub(({ method, path }) => {
      if (path.endsWith('/token')) return { status: 200, body: { access_token: 'token' } }
      const status = method === 'POST' ? 'running' : 'SUCCEEDED'
      return { status: 200, body: { jobId: 1, status } }
    })
    onTestFinished(close)
    const credentials = { clientId: 'app', clientSecret: 'app secret', connectionId: 'live' }
    const trigger = createAirbyteTrigger({ url, ...credentials, pollMs: 5, pendingMs: 60_000 })
    expect(await trigger(ORDER, never)).toMatchObject({ result: 'done' })
  })

  it('waits for a job that runs after it was pending', async () => {
    const { airbyte, trigger } = await start({ pendingMs: 500 })
    const outcome = trigger(ORDER, never)
    await until(() => airbyte.jobs.size > 0)
    airbyte.jobs.set(1, 'pending')
    const before = asked(airbyte, 'GET').length
    await until(() => asked(airbyte, 'GET').length > before + 1)
    airbyte.jobs.set(1, 'running')
    await sleep(600)
    airbyte.jobs.set(1, 'succeeded')
    expect((await outcome).result).toBe('done')
  })

  it('reads no more than a mebibyte of an answer', async () => {
    const { url, sent } = await startFlood()
    const { trigger } = await start({ url })
    expect(await trigger(ORDER, never)).toEqual({
      result: 'failed',
      detail: `Airbyte cannot be reached: the response of ${new URL(url).host} is larger than 1 MiB`,
    })
    expect(sent()).toBeLessThan(FLOOD)
  })

  it('polls with a new token when the first one has expired', async () => {
    const { airbyte, trigger } = await start()
    const outcome = trigger(ORDER, never)
    await until(() => airbyte.jobs.size > 0)
    airbyte.clock += 181
    airbyte.jobs.set(1, 'succeeded')
    expect((await outcome).result).toBe('done')
  })

  it.each([0, 500, 429])('continues to poll the job during an outage (%i)', async (outage) => {
    const { airbyte, trigger } = await start()
    const outcome = trigger(ORDER, never)
    await until(() => airbyte.jobs.size > 0)
    airbyte.outage = outage
    const before = airbyte.requests.length
    await until(() => airbyte.requests.length > before + 3)
    airbyte.outage = undefined
    airbyte.jobs.set(1, 'succeeded')
    expect((await outcome).result).toBe('done')
  })

  it('fails while Airbyte is down, and says how', async () => {
    const { airbyte, trigger } = await start()
    airbyte.outage = 0
    expect(await trigger(ORDER, never)).toMatchObject({
      result: 'failed',
      detail: expect.stringMatching(/^Airbyte cannot be reached: no response from 127/),
    })
  })

  it('says what to check if the credentials are refused', async () => {
    const { trigger } = await start({ clientSecret: 'another' })
    expect(await trigger(ORDER, never)).toEqual({
      result: 'failed',
      detail:
        'Airbyte refused a token with status 401: check AIRBYTE_CLIENT_ID, AIRBYTE_CLIENT_SECRET and their permissions',
    })
  })

  it.each([401, 404])(
    'knows before the first sync that Airbyte gives no token (%i)',
    async (outage) => {
      const { airbyte, trigger } = await start()
      airbyte.outage = outage
      await expect(trigger.check?.(never)).rejects.toThrow(
        `Airbyte returned no token (status ${outage}): check AIRBYTE_URL`,
      )
    },
  )

  it.each([undefined, 0, 503, 429])(
    'accepts any state of Airbyte at the start (%s)',
    async (outage) => {
      const { airbyte, trigger } = await start()
      airbyte.outage = outage
      await trigger.check?.(never)
    },
  )

  it('fails if the credentials are withdrawn while the job runs', async () => {
    const { airbyte, trigger } = await start()
    const outcome = trigger(ORDER, never)
    await until(() => airbyte.jobs.size > 0)
    airbyte.outage = 401
    expect((await outcome).detail).toContain('refused a token with status 401')
  })

  it('stops waiting when it is asked to', async () => {
    const { airbyte, trigger } = await start({ pollMs: 3_600_000 })
    const stop = new AbortController()
    const outcome = trigger(ORDER, stop.signal)
    await until(() => airbyte.jobs.size > 0)
    stop.abort()
    expect((await outcome).result).toBe('failed')
  })
})
