import { describe, expect, it } from 'vitest'
import type { Client, GetOptions } from '../http/client.ts'
import { retryPolicyOf } from '../http/retry.ts'
import { reply } from '../http/testing/http-service.ts'
import { failureOf, openClient, PREFIX } from '../http/testing/open-client.ts'
import { createVirtualTime, shortRetryPolicy } from '../http/testing/virtual-time.ts'
import { MalformedPageError } from '../page/page-scanner.ts'
import { createJsonBatch } from '../records/record-batch.ts'
import type { PageReader } from './page-reader.ts'
import { createPages, type PageEvent, type Pages } from './pages.ts'

const LIST = `${PREFIX}/people`
const { signal } = new AbortController()

/** Reads a list to its end, and handles each event. */
async function readAll(pages: Pages, work = async () => {}): Promise<PageEvent[]> {
  const events: PageEvent[] = []
  for await (const event of pages.read(LIST, 'list')) {
    events.push(event)
    await work()
  }
  return events
}

/** Reads an empty body as an empty page, and any other one as a damaged one. */
const reader: PageReader = {
  parse(body) {
    if (body.length > 0) throw new MalformedPageError('it is not JSON')
    return { batch: createJsonBatch([]), end: { count: 0 } }
  },
}

const DAMAGED = { whole: [Buffer.from('damaged')] }
const EMPTY = { whole: [] }

/** Pages of a client whose answers come from `get`, in virtual time. */
function virtualPages(get: Client['get'], stop: AbortSignal = signal) {
  const time = createVirtualTime()
  const waits: string[] = []
  const client = {
    accept() {},
    get,
    retryCause: undefined,
    traffic: { retries: 0 },
  } as unknown as Client
  const pages = createPages({
    client,
    reader,
    signal: stop,
    retryPolicy: { ...retryPolicyOf(10), time, random: () => 0.5 },
    requests: { count: 0 },
    waits: {
      rateLimited: (until) => void waits.push(until.toISOString()),
      waiting: (retryCause) => void waits.push(retryCause?.reason ?? 'unknown'),
    },
  })
  return { time, waits, follow: (work?: () => Promise<void>) => time.run(readAll(pages, work)) }
}

it('a sync that has to stop before its first request makes none', async () => {
  const asked: string[] = []
  const stopped = AbortSignal.abort(new Error('stopped'))
  const get = async (link: string) => {
    asked.push(link)
    return EMPTY
  }
  const { follow } = virtualPages(get, stopped)
  await expect(follow()).rejects.toThrow('stopped')
  expect(asked).toEqual([])
})

describe('a page that arrives damaged', () => {
  it('is requested again for retry_minutes', async () => {
    const { time, follow } = virtualPages(async () => (time.now() < 540_000 ? DAMAGED : EMPTY))
    await expect(follow()).resolves.toMatchObject([{ type: 'page', end: { count: 0 } }])
  })

  it('is an error when they are over', async () => {
    const { time, follow } = virtualPages(async () => DAMAGED)
    expect((await failureOf(follow())).message).toMatch(/is damaged: it is not JSON/)
    expect(time.now()).toBe(600_000)
  })

  it('is requested as a link that the service has answered before', async () => {
    const given: GetOptions[] = []
    const { follow } = virtualPages(async (_, options = {}) =>
      given.push(options) === 1 ? DAMAGED : EMPTY,
    )
    await follow()
    expect(given.map(({ isRepeat }) => isRepeat)).toEqual([false, true])
  })
})

describe('a stream that waits for the service', () => {
  it('reports it each minute, with the reason', async () => {
    const { waits, time, follow } = virtualPages(async (_, { onRetry } = {}) => {
      onRetry?.({ reason: 'It rains.' })
      await time.sleep(150_000, signal)
      return EMPTY
    })
    await follow()
    expect(waits).toEqual(['It rains.', 'It rains.'])
  })

  it('reports it, too, while a damaged page is requested repeatedly', async () => {
    const { waits, time, follow } = virtualPages(async () =>
      time.now() < 150_000 ? DAMAGED : EMPTY,
    )
    await follow()
    expect(waits[0]).toMatch(/is damaged: it is not JSON/)
    expect(waits.length).toBeGreaterThanOrEqual(2)
  })

  it('does not report its own work', async () => {
    const { waits, time, follow } = virtualPages(async () => EMPTY)
    await follow(() => time.sleep(150_000, signal))
    expect(waits).toEqual([])
  })
})

describe('a page that was requested ahead of a page that fails', () => {
  /** Reads a damaged first page that ends with a next link, whose answer comes from `next`. */
  async function failing(next: Parameters<typeof openClient>[0]['api']) {
    const page = `{"value":[nonsense],"nextLink":"${LIST}?page=2"}`
    const { client, calls } = await openClient({
      attempts: 1000,
      api: (response, request, index) =>
        request.url.endsWith('=2') ? next(response, request, index) : reply(response, 200, page),
    })
    const waits = { rateLimited() {}, waiting() {} }
    const pages = createPages({
      client,
      reader,
      signal,
      retryPolicy: shortRetryPolicy(1),
      waits,
      requests: { count: 0 },
    })
    expect((await failureOf(readAll(pages))).message).toMatch(/is damaged/)
    return calls
  }

  it('releases its connection', async () => {
    const closed = { isIt: false }
    await failing((response) => {
      response.on('close', () => {
        closed.isIt = true
      })
      response.writeHead(200).write('x'.repeat(6 * 1024 * 1024))
    })
    await expect.poll(() => closed.isIt).toBe(true)
  })

  it('is not tried again', async () => {
    const calls = await failing((response) => reply(response, 503))
    const asked = calls.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(calls.length - asked).toBeLessThan(3)
  })
})
