import { describe, expect, it } from 'vitest'
import { createMask } from '../ground/mask.ts'
import { type Client, createClient, type GetOptions } from './client.ts'
import { createServerClock } from './clock.ts'
import { createEndpoints } from './endpoints.ts'
import type { RetryCause } from './exchange.ts'
import { toNetworkError } from './network-error.ts'
import { createRateLimiter } from './rate-limiter.ts'
import { ReceivedBody } from './response-body.ts'
import { retryPolicyOf } from './retry.ts'
import { failureOf, PREFIX } from './testing/open-client.ts'
import { createVirtualTime, type VirtualTime } from './testing/virtual-time.ts'
import type { Call, Reply } from './transport.ts'

const PEOPLE = `${PREFIX}/people`
const MINUTE = 60_000

/** The answer of the service to a request: a status with headers, or none. */
type Said = readonly [status: number, headers?: Readonly<Record<string, string>>] | Error

interface Scene {
  readonly client: Client
  readonly time: VirtualTime
  readonly stop: AbortController
  /** The times in milliseconds at which requests to the API were sent, by path. */
  readonly sent: readonly (readonly [ms: number, path: string])[]
  /** Gets a link while time passes. */
  get(link?: string, options?: GetOptions): Promise<unknown>
}

/** A client and a service without a network, in virtual time. */
function scene(
  api: (ms: number, nth: number) => Said,
  { retryMinutes = 10, token = (_ms: number): Said => [200] } = {},
): Scene {
  const time = createVirtualTime()
  const stop = new AbortController()
  const sent: [number, string][] = []
  const transport = {
    async send({ url }: Call): Promise<Reply> {
      const { pathname } = new URL(url)
      const isToken = pathname.endsWith('/connect/token')
      if (!isToken) sent.push([time.now(), pathname])
      const said = isToken ? token(time.now()) : api(time.now(), sent.length)
      if (said instanceof Error) throw said
      const [status, headers = {}] = said
      const body = Buffer.from(isToken && status === 200 ? '{"access_token":"t"}' : '')
      const received = new ReceivedBody({ pause() {}, resume() {}, abort() {} }, (error) => error)
      received.push(body)
      received.end()
      return {
        status,
        header: (name) => headers[name],
        body: received,
        collect: (most, until) => received.collect(most, until),
        discard() {},
        isPrivate: () => false,
      }
    },
    close: async () => {},
  }
  const retryPolicy = { ...retryPolicyOf(retryMinutes), time, random: () => 0.5 }
  const clock = createServerClock(new Date(0), time.now)
  const client = createClient({
    endpoints: createEndpoints({
      baseUrl: 'https://acme.protime.test',
      authUrl: 'https://authentication.protime.test',
      apiName: 'svcapi',
      company: undefined,
      version: '1.0.0',
    }),
    clientId: 'id',
    clientSecret: 'secret',
    scopes: undefined,
    transport,
    limiter: createRateLimiter(undefined, time),
    clock,
    mask: createMask(),
    signal: stop.signal,
    retryPolicy,
  })
  return {
    client,
    time,
    stop,
    sent,
    get: (link = PEOPLE, options) => time.run(client.get(link, options)),
  }
}

const refused = toNetworkError(
  Object.assign(new Error(), { code: 'ECONNREFUSED' }),
  'acme.protime.test',
)
const reset = toNetworkError(
  Object.assign(new Error(), { code: 'ECONNRESET' }),
  'acme.protime.test',
)
const until = (ms: number, said: Said) => (now: number) => (now < ms ? said : ([200] as const))

describe('an outage of a minute', () => {
  it.each([
    ['503', [503]],
    ['429', [429]],
    ['a closed port', refused],
    ['broken connections', reset],
  ] as const)('of %s is waited out', async (_, said) => {
    await expect(scene(until(MINUTE, said)).get()).resolves.toBeDefined()
  })

  it('of the whole service is waited out', async () => {
    const outage = until(MINUTE, refused)
    await expect(scene(outage, { token: outage }).get()).resolves.toBeDefined()
  })
})

describe('an outage that is longer than retry_minutes', () => {
  it('is an error after a last attempt at their end', async () => {
    const { get, sent } = scene(() => [503], { retryMinutes: 2 })
    expect(await failureOf(get())).toMatchObject({ failure: 'transient', status: 503 })
    expect(sent.at(-1)?.[0]).toBe(2 * MINUTE)
  })

  it('makes requests less and less often, but at least each minute', async () => {
    const { get, sent } = scene(() => reset)
    await failureOf(get())
    const waits = sent.slice(1).map(([ms], i) => ms - (sent[i]?.[0] ?? 0))
    expect(waits.slice(0, 8)).toEqual([250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000])
    expect(Math.max(...waits)).toBe(30_000)
  })

  it('of the token endpoint is an error, too', async () => {
    const { client, time } = scene(() => [200], { token: () => refused, retryMinutes: 1 })
    expect((await failureOf(time.run(client.token()))).message).toMatch(/could not be reached/)
    expect(time.now()).toBe(MINUTE)
  })

  it('is counted for each request separately', async () => {
    // The service refuses everything half of the time, for much longer than any request may wait.
    const { get, time } = scene((ms) => (Math.floor(ms / MINUTE) % 2 ? [503] : [200]), {
      retryMinutes: 2,
    })
    while (time.now() < 20 * MINUTE) {
      await get()
      await time.run(time.sleep(10_000, new AbortController().signal))
    }
  })
})

describe('retry_minutes 0', () => {
  it.each([
    ['503', [503]],
    ['429 with a second', [429, { 'retry-after': '1' }]],
    ['a broken connection', reset],
  ] as const)('asks once: %s', async (_, said) => {
    const { get, sent } = scene(() => said, { retryMinutes: 0 })
    await failureOf(get())
    expect(sent).toHaveLength(1)
  })

  it('renews a token nevertheless', async () => {
    const { get, sent } = scene((_, nth) => (nth === 1 ? [401] : [200]), { retryMinutes: 0 })
    await get()
    expect(sent).toHaveLength(2)
  })
})

describe('a Retry-After', () => {
  // spec: Limits: rate
  it.each([429, 503, 500])('of %d is waited for', async (status) => {
    const { get, sent } = scene((_, nth) => (nth === 1 ? [status, { 'retry-after': '90' }] : [200]))
    await get()
    expect(sent.map(([ms]) => ms)).toEqual([0, 90_000])
  })

  it('of more than retry_minutes is not waited for', async () => {
    const { get, sent } = scene(() => [429, { 'retry-after': '3600' }])
    expect(await failureOf(get())).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(/requires a wait of 60 minutes.*retry_minutes/),
    })
    expect(sent).toHaveLength(1)
  })

  it.each([429, 500, 503])('of a moment makes no flood of requests: %d', async (status) => {
    const { get, sent } = scene(() => [status, { 'retry-after': '0.001' }])
    await failureOf(get())
    expect(sent.length).toBeLessThan(100)
  })

  it('of an hour is waited for when retry_minutes allow it', async () => {
    const { get, sent } = scene(
      (_, nth) => (nth === 1 ? [429, { 'retry-after': '3600' }] : [200]),
      { retryMinutes: 61 },
    )
    await get()
    expect(sent.at(-1)?.[0]).toBe(60 * MINUTE)
  })

  it('says until when the service asks to wait', async () => {
    const { get } = scene((_, nth) => (nth === 1 ? [429, { 'retry-after': '9' }] : [200]))
    const causes: RetryCause[] = []
    await get(PEOPLE, { onRetry: (retryCause) => causes.push(retryCause) })
    expect(causes).toEqual([
      { reason: expect.stringContaining('Too many requests'), until: new Date(9000) },
    ])
  })

  it('of a 429 also holds back every other request', async () => {
    const { client, time, sent } = scene((_, nth) =>
      nth === 1 ? [429, { 'retry-after': '60' }] : [200],
    )
    const other = async () => {
      await time.sleep(1000, new AbortController().signal)
      await client.get(`${PREFIX}/jobs`)
    }
    await time.run(Promise.all([client.get(PEOPLE), other()]))
    expect(sent.find(([, path]) => path.endsWith('/jobs'))?.[0]).toBeGreaterThanOrEqual(60_000)
  })
})

describe('a request that waits', () => {
  it.each([
    ['for its next attempt', [503]],
    ['as the service asks', [429, { 'retry-after': '300' }]],
  ] as const)('%s ends at once when it is told to stop', async (_, said) => {
    const { client, time, stop } = scene(() => said)
    const waiting = failureOf(client.get(PEOPLE))
    while (client.retryCause === undefined) await new Promise(setImmediate)
    stop.abort(new Error('stopped'))
    expect([(await waiting).message, time.now()]).toEqual(['stopped', 0])
  })

  it('can be aborted alone', async () => {
    const { client } = scene(() => [503])
    const own = new AbortController()
    const waiting = failureOf(client.get(PEOPLE, { signal: own.signal }))
    while (client.retryCause === undefined) await new Promise(setImmediate)
    own.abort(new Error('dropped'))
    expect((await waiting).message).toBe('dropped')
  })

  it('has a reason until something succeeds', async () => {
    const { get, client } = scene((_, nth) => (nth === 1 ? refused : [200]))
    const seen: (string | undefined)[] = []
    await get(PEOPLE, { onRetry: () => seen.push(client.retryCause?.reason) })
    expect([...seen, client.retryCause]).toEqual([
      expect.stringContaining('could not be reached'),
      undefined,
    ])
  })
})

describe('a link that no longer exists at the second attempt', () => {
  it.each([
    [true, 'a connection that broke', reset],
    [true, 'a gateway that lost the answer', [504]],
    [false, 'a closed port', refused],
    [false, 'a refusal', [503]],
  ] as const)('may have been used up: %s, after %s', async (isRepeat, _, said) => {
    const { get } = scene((_ms, nth) => (nth === 1 ? said : [410]))
    expect(await failureOf(get())).toMatchObject({ status: 410, isRepeat })
  })

  it('may have been used up if the caller says so', async () => {
    const { get } = scene(() => [410])
    expect(await failureOf(get(PEOPLE, { isRepeat: true }))).toMatchObject({ isRepeat: true })
  })
})
