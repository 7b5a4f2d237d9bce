import type { lookup as systemLookup } from 'node:dns'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { connect, createServer } from 'node:net'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type HostRules, isPrivateAddress, isPublicAddress } from './public-hosts.ts'
import { listen, reply, replyText, startHttpService } from './testing/http-service.ts'
import { failureOf } from './testing/open-client.ts'
import { createTransport, type Reply } from './transport.ts'

const { signal } = new AbortController()

function get(url: string, hosts?: HostRules): Promise<Reply> {
  const transport = createTransport(5, hosts)
  onTestFinished(() => transport.close())
  return transport.send({ url, method: 'GET', headers: {}, signal })
}

/** A key and, first of several, its certificate of loopback. */
const PEM = readFileSync(
  new URL('../../integration-tests/testing/certificates.pem', import.meta.url),
)

function secureServer() {
  return createHttpsServer({ key: PEM, cert: PEM }, (_, response) => response.end('secure'))
}

describe('a certificate', () => {
  it('of an unknown authority leads to a message with the setting that helps', async () => {
    const port = await listen(secureServer())
    expect(await failureOf(get(`https://127.0.0.1:${port}`))).toMatchObject({
      failure: 'config',
      message: expect.stringMatching(
        /is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/,
      ),
    })
  })

  it('is not blamed if the service does not use TLS at all', async () => {
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
  it.each(['HTTP_PROXY', 'http_proxy'])('of %s gets a request for a tunnel', async (name) => {
    const proxy = await startProxy(await plainServer())
    environment({ [name]: proxy.url })
    const text = await replyText(await get('http://acme.protime.test'))
    expect([text, proxy.asked]).toEqual(['done', ['acme.protime.test:80']])
  })

  it.each(['HTTPS_PROXY', 'https_proxy'])(
    'of %s gets a request for a tunnel, which TLS goes through',
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

  it('gets the public address that was looked up, so that it need not look up the name again', async () => {
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

  it('is not used for the hosts of NO_PROXY', async () => {
    const port = await plainServer()
    const proxy = await startProxy(port)
    environment({ HTTP_PROXY: proxy.url, NO_PROXY: 'example.test,127.0.0.1' })
    await replyText(await get(`http://127.0.0.1:${port}`))
    expect(proxy.asked).toEqual([])
  })

  it.each([403, 407])('that refuses (%d) is a config error', async (status) => {
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

  it('of an unknown name is named', async () => {
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

  it('that closes the connection is named', async () => {
    const port = await listen(createServer((socket) => socket.end()))
    environment({ HTTP_PROXY: `http://127.0.0.1:${port}` })
    expect((await failureOf(get('http://acme.protime.test'))).message).toMatch(
      /^The connection to the proxy 127\.0\.0\.1:\d+ broke \(/,
    )
  })

  // This proxy looks up names itself, so it could be used to reach hosts that are not allowed.
  it.each(['socks5://127.0.0.1:1080', 'socks://127.0.0.1:1080', 'proxy:3128'])(
    'of another protocol than HTTP is refused: %s',
    (url) => {
      environment({ HTTPS_PROXY: url })
      expect(() => createTransport(5)).toThrow(
        expect.objectContaining({ failure: 'config', id: 'proxy-not-an-address' }),
      )
    },
  )

  it('with an invalid address is a config error, which does not show it', () => {
    environment({ HTTPS_PROXY: 'user:pass word' })
    expect(() => createTransport(5)).toThrow(
      expect.objectContaining({
        failure: 'config',
        message: expect.not.stringContaining('pass word'),
      }),
    )
  })
})

describe('the hosts that requests may go to', () => {
  const { signal } = new AbortController()

  describe('an address', () => {
    it.each([
      '8.8.8.8',
      '172.15.255.255',
      '172.32.0.1',
      '100.128.0.1',
      '169.253.0.1',
      '223.255.255.255',
      '2606:4700::1111',
      '2a00:1450::1',
      '::ffff:8.8.8.8',
      '64:ff9b::808:808',
    ])('%s is public', (address) => {
      expect([isPublicAddress(address), isPrivateAddress(address)]).toEqual([true, false])
    })

    it.each([
      '0.0.0.0',
      '10.0.0.1',
      '100.64.0.1',
      '168.63.129.16',
      '169.254.169.254',
      '172.16.0.1',
      '172.31.255.255',
      '192.168.1.1',
      '198.18.0.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      'fe80::1',
      'fe80::1%eth0',
      'fd00:ec2::254',
      'ff02::1',
      '2001:db8::1',
      '2002:a00:1::',
      '::ffff:10.0.0.1',
      '::ffff:a9fe:a9fe',
      '64:ff9b::a00:1',
      '0:0:0:0:0:ffff:10.0.0.1',
    ])('%s is private', (address) => {
      expect([isPublicAddress(address), isPrivateAddress(address)]).toEqual([false, true])
    })

    it.each(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])(
      '%s is neither: it is this machine',
      (address) => {
        expect([isPublicAddress(address), isPrivateAddress(address)]).toEqual([false, false])
      },
    )

    it('that is not valid is not public', () => {
      expect(isPublicAddress('example')).toBe(false)
    })
  })

  /** A lookup that returns these addresses, one list per call, and counts its calls. */
  function lookupOf(...answers: readonly string[][]) {
    let asked = 0
    const lookup = (_: string, __: object, callback: (...args: unknown[]) => void) => {
      const addresses = answers[Math.min(asked++, answers.length - 1)] ?? []
      const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
      setImmediate(() => callback(null, found))
    }
    return { lookup: lookup as unknown as typeof systemLookup, asked: () => asked }
  }

  function get(url: string, lookup?: typeof systemLookup) {
    const transport = createTransport(5, { isPublicOnly: true, ...(lookup && { lookup }) })
    onTestFinished(() => transport.close())
    return failureOf(transport.send({ url, method: 'GET', headers: {}, signal }))
  }

  const NOT_PUBLIC = {
    failure: 'config',
    message: expect.stringMatching(/public hosts, by https .*PROTIME_PUBLIC_ONLY/),
  }

  it('an answer knows whether its host is in a private network', async () => {
    const { origin } = await startHttpService((_, response) => reply(response, 200, 'x'))
    const asked: string[] = []
    const isPrivate = (address: string) => asked.push(address) > 0
    const told: boolean[] = []
    for (const hosts of [{}, { isPrivate }]) {
      const transport = createTransport(5, hosts)
      onTestFinished(() => transport.close())
      const answer = await transport.send({ url: origin, method: 'GET', headers: {}, signal })
      told.push(answer.isPrivate())
      answer.discard()
    }
    expect([told, asked]).toEqual([[false, true], ['127.0.0.1']])
  })

  describe('if only public hosts are allowed', () => {
    it('nothing is sent by plain http', async () => {
      const { origin, requests } = await startHttpService((_, response) =>
        reply(response, 200, 'x'),
      )
      expect(await get(origin)).toMatchObject(NOT_PUBLIC)
      expect(await get(origin.replace('127.0.0.1', 'localhost'))).toMatchObject(NOT_PUBLIC)
      expect(requests).toEqual([])
    })

    it.each(['https://127.0.0.1:1', 'https://[::1]:1', 'https://10.0.0.1', 'https://0x7f.1:1'])(
      'nothing is sent to %s',
      async (url) => {
        expect(await get(url)).toMatchObject(NOT_PUBLIC)
      },
    )

    it.each([[['127.0.0.1']], [['::1']], [['8.8.8.8', '10.0.0.1']], [['169.254.169.254']]])(
      'nothing is sent to a name whose addresses are %j',
      async (addresses) => {
        const { lookup, asked } = lookupOf(addresses)
        expect(await get('https://tenant.protime.test', lookup)).toMatchObject(NOT_PUBLIC)
        expect(asked()).toBe(1)
      },
    )
  })
})
