import type { lookup as systemLookup } from 'node:dns'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { HostRules } from './public-hosts.ts'
import { reply, startHttpService } from './testing/http-service.ts'
import { failureOf } from './testing/open-client.ts'
import { createTransport, type Reply } from './transport.ts'

const { signal } = new AbortController()

function get(url: string, hosts?: HostRules): Promise<Reply> {
  const transport = createTransport(5, hosts)
  onTestFinished(() => transport.close())
  return transport.send({ url, method: 'GET', headers: {}, signal })
}

async function textOf(reply: Reply): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of reply.body) parts.push(part)
  return Buffer.concat(parts).toString('utf8')
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const FIXTURES = new URL('../../integration-tests/fixtures/', import.meta.url)

function secureServer() {
  return createHttpsServer(
    {
      key: readFileSync(new URL('loopback-key.pem', FIXTURES)),
      cert: readFileSync(new URL('loopback-certificate.pem', FIXTURES)),
    },
    (_, response) => response.end('secure'),
  )
}

describe('a certificate', () => {
  it('that nobody vouches for names the setting that helps', async () => {
    const port = await listen(secureServer())
    expect(await failureOf(get(`https://127.0.0.1:${port}`))).toMatchObject({
      failure: 'config',
      message: expect.stringMatching(
        /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
      ),
    })
  })

  it('is not to blame where the service speaks no TLS at all', async () => {
    const port = await listen(createHttpServer())
    expect((await failureOf(get(`https://127.0.0.1:${port}`))).message).not.toMatch(/certificate/)
  })
})

/** A proxy that connects every host to one port of loopback, or answers CONNECT with a status. */
async function startProxy(target: number, status = 200) {
  const asked: string[] = []
  const proxy = createHttpServer()
  proxy.on('connect', (request, socket) => {
    asked.push(request.url ?? '')
    socket.write(`HTTP/1.1 ${status} x\r\n\r\n`)
    if (status !== 200) {
      socket.end()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    upstream.pipe(socket).pipe(upstream)
    upstream.on('error', () => socket.destroy())
    socket.on('error', () => upstream.destroy())
  })
  const port = await listen(proxy)
  return { asked, url: `http://127.0.0.1:${port}` }
}

function environment(variables: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
  onTestFinished(() => void vi.unstubAllEnvs())
}

async function plainServer(): Promise<number> {
  return Number(new URL((await startHttpService((_, r) => reply(r, 200, 'done'))).origin).port)
}

describe('a proxy', () => {
  it.each(['HTTP_PROXY', 'http_proxy'])('of %s is asked for a tunnel', async (name) => {
    const proxy = await startProxy(await plainServer())
    environment({ [name]: proxy.url })
    const text = await textOf(await get('http://acme.protime.test'))
    expect([text, proxy.asked]).toEqual(['done', ['acme.protime.test:80']])
  })

  it.each(['HTTPS_PROXY', 'https_proxy'])(
    'of %s is asked for a tunnel, TLS goes through it',
    async (name) => {
      const proxy = await startProxy(await listen(secureServer()))
      environment({ [name]: proxy.url })
      const failure = await failureOf(get('https://acme.protime.test'))
      expect([failure.message, proxy.asked]).toEqual([
        expect.stringMatching(/certificate of acme\.protime\.test is not trusted/),
        ['acme.protime.test:443'],
      ])
    },
  )

  it('is told the public address that was looked up, so that it need not look the name up again', async () => {
    const proxy = await startProxy(await listen(secureServer()))
    environment({ HTTPS_PROXY: proxy.url })
    const askFor = (address: string) => {
      const found = [{ address, family: 4 }]
      const lookup = (_: string, __: object, done: (...found: unknown[]) => void) =>
        done(null, found)
      const hosts = { isPublicOnly: true, lookup: lookup as unknown as typeof systemLookup }
      return failureOf(get('https://acme.protime.test', hosts))
    }
    expect((await askFor('8.8.8.8')).message).toMatch(/certificate of acme\.protime\.test/)
    expect((await askFor('10.0.0.1')).message).toMatch(
      /acme\.protime\.test has an address that is not public/,
    )
    expect(proxy.asked).toEqual(['8.8.8.8:443'])
  })

  it('is passed by for the hosts of NO_PROXY', async () => {
    const port = await plainServer()
    const proxy = await startProxy(port)
    environment({ HTTP_PROXY: proxy.url, NO_PROXY: 'example.test,127.0.0.1' })
    await textOf(await get(`http://127.0.0.1:${port}`))
    expect(proxy.asked).toEqual([])
  })

  it.each([403, 407])('that refuses (%d) is a fault of the settings', async (status) => {
    const proxy = await startProxy(0, status)
    environment({ HTTP_PROXY: proxy.url })
    expect(await failureOf(get('http://acme.protime.test'))).toMatchObject({
      failure: 'config',
      message: expect.stringMatching(new RegExp(`proxy.*${status}.*HTTPS_PROXY`)),
    })
  })

  it('that cannot be reached is named, without its password', async () => {
    const closed = createHttpServer()
    const port = await listen(closed)
    await new Promise((resolve) => closed.close(resolve))
    environment({ HTTP_PROXY: `http://user:pass-word@127.0.0.1:${port}` })
    expect(await failureOf(get('http://acme.protime.test'))).toMatchObject({
      failure: 'transient',
      message: `The proxy 127.0.0.1:${port} could not be reached (ECONNREFUSED). Check HTTPS_PROXY and HTTP_PROXY, or name acme.protime.test in NO_PROXY.`,
    })
  })

  it('that nobody knows is named', async () => {
    environment({ HTTP_PROXY: 'http://proxy.invalid:3128' })
    expect((await failureOf(get('http://acme.protime.test'))).message).toMatch(
      /^The proxy proxy\.invalid:3128 could not be reached \((ENOTFOUND|EAI_AGAIN)\)\./,
    )
  })

  it('that cannot reach the service may do so later', async () => {
    const proxy = await startProxy(0, 502)
    environment({ HTTP_PROXY: proxy.url })
    expect(await failureOf(get('http://acme.protime.test'))).toMatchObject({
      failure: 'transient',
      message: expect.stringMatching(
        /^The proxy 127\.0\.0\.1:\d+ could not connect to acme\.protime\.test \(502\)\./,
      ),
    })
  })

  it('that breaks off is named', async () => {
    const port = await listen(createServer((socket) => socket.end()))
    environment({ HTTP_PROXY: `http://127.0.0.1:${port}` })
    expect((await failureOf(get('http://acme.protime.test'))).message).toMatch(
      /^The connection to the proxy 127\.0\.0\.1:\d+ broke \(/,
    )
  })

  // Such a proxy looks names up itself: it would be asked for hosts that may not be asked.
  it.each(['socks5://127.0.0.1:1080', 'socks://127.0.0.1:1080', 'proxy:3128'])(
    'of another protocol than HTTP is refused: %s',
    (url) => {
      environment({ HTTPS_PROXY: url })
      expect(() => createTransport(5)).toThrow(
        expect.objectContaining({ failure: 'config', id: 'proxy-not-an-address' }),
      )
    },
  )

  it('whose address is no address is a fault of the settings, and is not shown', () => {
    environment({ HTTPS_PROXY: 'user:pass word' })
    expect(() => createTransport(5)).toThrow(
      expect.objectContaining({
        failure: 'config',
        message: expect.not.stringContaining('pass word'),
      }),
    )
  })
})
