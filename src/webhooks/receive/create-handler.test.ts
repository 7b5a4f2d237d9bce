import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  createHandler,
  type HandlerOptions,
  quietRefusals,
  type Refusal,
} from './create-handler.ts'
import type { WebhookEvent } from './event.ts'
import { toNode } from './node-http.ts'
import { delivery, KEY, openRaw, PATH, sign } from './testing/start-receiver.ts'

const URL_OF_HOOK = 'https://acme.example/hooks/clockings/nonce'
const RECORD = '{"changeVersion":"00A","id":4712,"hours":7.10}'

describe('the handler of deliveries', () => {
  it('answers 200 when the event is stored, and not before', async () => {
    const steps: unknown[] = []
    const handler = handlerOf({
      async onEvent({ collection, id, changeVersion, body }) {
        await new Promise(setImmediate)
        steps.push([collection, id, changeVersion, new TextDecoder().decode(body)])
      },
    })
    const { status } = await handler(signed(RECORD))
    steps.push(status)
    expect(steps).toEqual([['clockings', 4712, '00A', RECORD], 200])
  })

  // spec: Events 5
  it('answers 503 if it cannot be stored, so that it is sent again', async () => {
    const errors: unknown[] = []
    const full = new Error('disk full')
    const handler = handlerOf({
      onEvent: () => Promise.reject(full),
      onError: (error) => void errors.push(error),
    })
    expect((await handler(signed(RECORD))).status).toBe(503)
    expect(errors).toEqual([full])
  })

  it('gets only the keys of the path', async () => {
    const paths: string[] = []
    const handler = handlerOf({
      async keysOf(path) {
        paths.push(path)
        return [KEY]
      },
    })
    await handler(signed(RECORD, { url: `${URL_OF_HOOK}?a=b` }))
    expect(paths).toEqual(['/hooks/clockings/nonce'])
  })

  it('gets the collection from the path in the configured way', async () => {
    const events: WebhookEvent[] = []
    const handler = handlerOf({
      keysOf: () => [KEY],
      collectionOf: (path) => path.slice(1),
      onEvent: (event) => void events.push(event),
    })
    await handler(signed(RECORD, { url: 'https://acme.example/people' }))
    expect(events[0]?.collection).toBe('people')
  })

  it.each([
    [401, 'no-header', 'is not signed', new Request(URL_OF_HOOK, { method: 'POST', body: RECORD })],
    [401, 'other-scheme', 'has a token', signed(RECORD, { authorization: 'Bearer abc' })],
    [401, 'no-key-fits', 'was changed', signed(`${RECORD} `, { authorization: sign(RECORD, KEY) })],
    [400, 'not-json', 'is signed and not JSON', signed('{"id":')],
    [400, 'not-json', 'is signed and empty', signed('')],
    [
      404,
      'unknown-path',
      'has an unknown path',
      signed(RECORD, { url: 'https://acme.example/hooks/people/nonce' }),
    ],
    [405, 'other-method', 'is a PUT', signed(RECORD, { method: 'PUT' })],
    [415, 'compressed', 'is in gzip', signed(RECORD, { headers: { 'content-encoding': 'gzip' } })],
    [
      413,
      'too-large',
      'says that it is too long',
      signed(RECORD, { headers: { 'content-length': '101' } }),
    ],
    [413, 'too-large', 'is too long', signed(`"${'x'.repeat(99)}"`)],
  ])('answers %i (%s) to what %s, and tells of it', async (expected, reason, _, request) => {
    const events: WebhookEvent[] = []
    const refusals: Refusal[] = []
    const handler = handlerOf({
      maxBytes: 100,
      onEvent: (event) => void events.push(event),
      onRefused: (refusal) => void refusals.push(refusal),
    })
    const { status, headers } = await handler(request)
    expect(status).toBe(expected)
    expect(headers.get('allow')).toBe(expected === 405 ? 'POST' : null)
    expect(events).toEqual([])
    expect(refusals).toEqual([{ path: new URL(request.url).pathname, status: expected, reason }])
  })

  it('does not read the body of an unsigned delivery', async () => {
    const body = new ReadableStream({ pull: () => Promise.reject(new Error('it was read')) })
    const request = new Request(URL_OF_HOOK, { method: 'POST', body, duplex: 'half' })
    expect((await handlerOf({ onRefused() {} })(request)).status).toBe(401)
  })

  it('passes on signed deliveries that are not JSON, if it is asked to', async () => {
    const events: WebhookEvent[] = []
    const onEvent = (event: WebhookEvent) => void events.push(event)
    expect((await handlerOf({ notJson: 'pass', onEvent })(signed('{"id":'))).status).toBe(200)
    expect(events).toEqual([
      { collection: 'clockings', body: new TextEncoder().encode('{"id":'), deleted: undefined },
    ])
  })

  it('says on stderr what it refuses and why, without the path', async () => {
    const said = spyOnConsole()
    await handlerOf({})(signed(RECORD, { authorization: 'Bearer abc' }))
    expect(said()).toEqual([
      'source-protime/webhooks: a delivery was refused with 401 (other-scheme). Give onRefused to learn more',
    ])
  })
})

it('refusals for the same reason are logged once a minute', () => {
  const said = spyOnConsole()
  let now = 0
  const refused = quietRefusals(() => now)
  for (const reason of ['no-key-fits', 'no-key-fits', 'no-header'] as const)
    refused({ status: 401, reason })
  now = 60_001
  refused({ status: 401, reason: 'no-key-fits' })
  const line = (what: string) => `source-protime/webhooks: ${what}. Give onRefused to learn more`
  expect(said()).toEqual([
    line('a delivery was refused with 401 (no-key-fits)'),
    line('a delivery was refused with 401 (no-header)'),
    line('2 deliveries were refused with 401 (no-key-fits)'),
  ])
})

function spyOnConsole(): () => string[] {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line))
  onTestFinished(() => spy.mockRestore())
  return () => lines
}

function handlerOf(options: Partial<HandlerOptions>) {
  return createHandler({
    keysOf: (path) => (path === '/hooks/clockings/nonce' ? [KEY] : undefined),
    onEvent() {},
    ...options,
  })
}

function signed(
  body: string,
  {
    url = URL_OF_HOOK,
    method = 'POST',
    authorization = sign(body, KEY),
    headers = {},
  }: {
    readonly url?: string
    readonly method?: string
    readonly authorization?: string
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Request {
  return new Request(url, { method, body, headers: { authorization, ...headers } })
}

const ZOE = '{"changeVersion":"00A","id":4712,"name":"Zoë"}'

describe('a handler in a server of Node', () => {
  it('gets the bytes of deliveries that follow each other, in whatever order they are checked', async () => {
    const stored = new Set<string>()
    const { write, answers } = await serve((body) => void stored.add(body))
    for (const record of [ZOE, ` ${ZOE}`]) write(delivery(record))
    expect(await answers(2)).toEqual([200, 200])
    expect(stored).toEqual(new Set([ZOE, ` ${ZOE}`]))
  })

  it.each([
    [401, delivery(ZOE, { authorization: sign(ZOE, 'other') })],
    [404, delivery(ZOE, { path: '/elsewhere' })],
    [405, `GET ${PATH} HTTP/1.1\r\nHost: hooks\r\n\r\n`],
    [405, `TRACE ${PATH} HTTP/1.1\r\nHost: hooks\r\n\r\n`],
    [401, `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nContent-Length: 2\r\n\r\n{}`],
    [413, `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nContent-Length: 1048577\r\n\r\n`],
    [
      415,
      `POST ${PATH} HTTP/1.1\r\nHost: hooks\r\nContent-Encoding: br\r\nContent-Length: 2\r\n\r\n{}`,
    ],
  ])('answers %i', async (status, request) => {
    const { write, answers, heard } = await serve()
    write(request)
    expect(await answers(1)).toEqual([status])
    if (status === 405) expect(heard()).toMatch(/^allow: POST\r$/im)
  })

  it.each([
    [404, '/elsewhere'],
    [413, PATH],
  ])(
    'answers %i to a sender who writes all before reading, and serves the next',
    async (status, path) => {
      const { write, sent, answers, closed, again } = await serve()
      write(
        `POST ${path} HTTP/1.1\r\nHost: hooks\r\nAuthorization: ${sign('', KEY)}\r\nTransfer-Encoding: chunked\r\n\r\n1000000\r\n`,
      )
      expect(await sent(Buffer.alloc(0x1000000))).toBe(true)
      expect(await answers(1)).toEqual([status])
      write('\r\n0\r\n\r\n')
      await closed
      const other = await again()
      other.write(delivery(ZOE))
      expect(await other.answers(1)).toEqual([200])
    },
  )

  it('finds its path below the one at which Express mounts it', async () => {
    const mounted = (request: IncomingMessage & { originalUrl?: string }) => {
      request.originalUrl = request.url ?? ''
      request.url = '/'
    }
    const { write, answers } = await serve(undefined, (request, response, handle) => {
      mounted(request)
      handle(request, response)
    })
    write(delivery(ZOE))
    expect(await answers(1)).toEqual([200])
  })

  it('says at once that other code has read the body', async () => {
    const said = spyOnStderr()
    const { write, answers } = await serve(undefined, async (request, response, handle) => {
      await text(request)
      handle(request, response)
    })
    write(delivery(ZOE))
    expect(await answers(1)).toEqual([500])
    expect(said()).toContain('mount this before body parsers')
  })

  it('reports where it fails, but not with what', async () => {
    const said = spyOnStderr()
    const { write, answers } = await serve(() => {
      throw new RangeError(ZOE)
    })
    write(delivery(ZOE))
    expect(await answers(1)).toEqual([503])
    expect(said()).toContain('onEvent threw (RangeError)')
    expect(said()).not.toContain('4712')
  })

  it('answers 500 if it cannot get its keys', async () => {
    const said = spyOnStderr()
    const { write, answers } = await serveListener(
      toNode(
        createHandler({
          keysOf: () => Promise.reject(new Error('no database')),
          onEvent() {},
        }),
      ),
    )
    write(delivery(ZOE))
    expect(await answers(1)).toEqual([500])
    expect(said()).toContain('the handler threw (Error)')
  })

  it('is not affected by a sender that disconnects', async () => {
    const said = spyOnStderr()
    const { write, end, again } = await serve()
    write(delivery(ZOE).subarray(0, -1))
    await new Promise(setImmediate)
    end()
    const other = await again()
    other.write(delivery(ZOE))
    expect(await other.answers(1)).toEqual([200])
    expect(said()).toBe('')
  })
})

type Mount = (...args: [...Parameters<RequestListener>, RequestListener]) => void

/** A server with a handler that stores bodies, and a connection to it. */
function serve(
  store: (body: string) => void = () => {},
  mount: Mount = (request, response, handle) => handle(request, response),
) {
  const handle = toNode(
    createHandler({
      keysOf: (path) => (path === PATH ? [KEY] : undefined),
      onEvent: ({ body }) => store(new TextDecoder().decode(body)),
    }),
  )
  return serveListener((request, response) => mount(request, response, handle))
}

async function serveListener(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const again = () => openRaw(port)
  return { ...(await again()), again }
}

function spyOnStderr(): () => string {
  const lines: string[] = []
  const spy = vi.spyOn(console, 'error').mockImplementation((line) => void lines.push(line))
  onTestFinished(() => spy.mockRestore())
  return () => lines.join('')
}
