import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createHandler } from './create-handler.ts'
import { sign } from './testing/sign.ts'
import { delivery, KEY, openRaw, PATH } from './testing/start-receiver.ts'
import { toNode } from './to-node.ts'

const RECORD = '{"changeVersion":"00A","id":4712,"name":"Zoë"}'

describe('a handler in a server of Node', () => {
  it('gets the bytes of deliveries that follow each other', async () => {
    const stored: string[] = []
    const { write, answers } = await serve((body) => void stored.push(body))
    for (const record of [RECORD, ` ${RECORD}`]) write(delivery(record))
    expect(await answers(2)).toEqual([200, 200])
    expect(stored).toEqual([RECORD, ` ${RECORD}`])
  })

  it.each([
    [401, delivery(RECORD, { authorization: sign(RECORD, 'other') })],
    [404, delivery(RECORD, { path: '/elsewhere' })],
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
      other.write(delivery(RECORD))
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
    write(delivery(RECORD))
    expect(await answers(1)).toEqual([200])
  })

  it('says at once that somebody else has read the body', async () => {
    const said = spyOnStderr()
    const { write, answers } = await serve(undefined, async (request, response, handle) => {
      await text(request)
      handle(request, response)
    })
    write(delivery(RECORD))
    expect(await answers(1)).toEqual([500])
    expect(said()).toContain('mount this before body parsers')
  })

  it('is told of where it fails, but not what with', async () => {
    const said = spyOnStderr()
    const { write, answers } = await serve(() => {
      throw new RangeError(RECORD)
    })
    write(delivery(RECORD))
    expect(await answers(1)).toEqual([503])
    expect(said()).toContain('onEvent threw (RangeError)')
    expect(said()).not.toContain('4712')
  })

  it('answers 500 when it does not know its keys', async () => {
    const said = spyOnStderr()
    const { write, answers } = await serveListener(
      toNode(
        createHandler({
          keysOf: () => Promise.reject(new Error('no database')),
          onEvent() {},
        }),
      ),
    )
    write(delivery(RECORD))
    expect(await answers(1)).toEqual([500])
    expect(said()).toContain('the handler threw (Error)')
  })

  it('is not troubled by a sender who hangs up', async () => {
    const said = spyOnStderr()
    const { write, end, again } = await serve()
    write(delivery(RECORD).subarray(0, -1))
    await new Promise(setImmediate)
    end()
    const other = await again()
    other.write(delivery(RECORD))
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
