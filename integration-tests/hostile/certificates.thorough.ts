import { readFileSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, type Server as NetServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from '../testing/run.ts'
import { type RawService, type RawServiceOptions, startRawService } from './raw-service.ts'
import { configOf, SECRET, STREAM, token } from './scenario.ts'

// All are signed by themselves with the key that stands first, and so their own authority.
const FILE = fileURLToPath(new URL('../testing/certificates.pem', import.meta.url))
const KEY = readFileSync(FILE, 'utf8')
const [LOOPBACK = '', EXPIRED = '', OTHER_HOST = ''] =
  KEY.match(/-+BEGIN CERTIFICATE-+[^-]*-+END CERTIFICATE-+/g) ?? []
const TRUSTED = { NODE_EXTRA_CA_CERTS: FILE }

describe('a service whose certificate no known authority has signed', () => {
  let service: Server
  let port: number
  const open: NetServer[] = []

  beforeEach(async () => {
    service = createServer({ key: KEY, cert: LOOPBACK })
    service.on('request', (request, response) => {
      const isToken = request.url?.endsWith('/connect/token')
      request.resume()
      response.end(
        JSON.stringify(isToken ? { access_token: 'token', expires_in: 60 } : { value: [] }),
      )
    })
    port = await listen(service)
  })

  afterEach(() => {
    for (const server of open.splice(0)) server.close()
  })

  async function listen(server: NetServer): Promise<number> {
    open.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as AddressInfo).port
  }

  /** Checks the connection to the service at an address; with variables, which Node reads at its start, in a process. */
  async function check(origin: string, environment?: Readonly<Record<string, string>>) {
    const config = {
      tenant: 'acme',
      environment: { type: 'custom', base_url: origin, auth_url: `${origin}/tenants/acme` },
      client_id: 'id',
      client_secret: 'a secret',
    }
    const { messages } = await run({
      program: 'source-protime',
      command: 'check',
      config,
      ...(environment === undefined ? { in: 'process' } : { environment }),
    })
    return messages.find(({ connectionStatus }) => connectionStatus)?.connectionStatus
  }

  it('is not trusted, and the check says which setting helps', async () => {
    expect(await check(`https://127.0.0.1:${port}`)).toEqual({
      status: 'FAILED',
      message: expect.stringMatching(/certificate of 127\.0\.0\.1.*NODE_EXTRA_CA_CERTS/),
    })
  })

  it('is trusted when NODE_EXTRA_CA_CERTS names the certificate', async () => {
    expect(await check(`https://127.0.0.1:${port}`, TRUSTED)).toMatchObject({ status: 'SUCCEEDED' })
  })

  it('is reached through the tunnel of a proxy', async () => {
    const asked = new Set<string | undefined>()
    const proxy = createProxy()
    proxy.on('connect', (request, socket) => {
      asked.add(request.url)
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      const upstream = connect(port, '127.0.0.1')
      upstream.on('error', () => socket.destroy())
      socket.on('error', () => upstream.destroy())
      upstream.pipe(socket).pipe(upstream)
    })
    const HTTPS_PROXY = `http://127.0.0.1:${await listen(proxy)}`
    const status = await check('https://acme.protime.test', { ...TRUSTED, HTTPS_PROXY })
    expect([status?.status, [...asked]]).toEqual(['SUCCEEDED', ['acme.protime.test:443']])
  })
})

describe('a certificate', () => {
  let service: RawService
  afterEach(() => service.close())

  async function serve(cert: string, options: object = {}): Promise<void> {
    const tls = { key: KEY, cert, ...options }
    service = await startRawService(() => token(), { tls } as RawServiceOptions)
  }

  /** Reads with these variables, which may name authorities. */
  async function expectRefusal(url: string, words: RegExp, environment?: typeof TRUSTED) {
    const read = await run({
      program: 'source-protime',
      command: 'read',
      config: configOf(url),
      catalog: [STREAM],
      ...(environment === undefined ? { in: 'process' } : { environment }),
    })
    expect(read.errors).toMatchObject([
      { failure_type: 'config_error', message: expect.stringMatching(words) },
    ])
    expect(read.exitCode).toBe(1)
    expect(read.stdout).not.toContain(SECRET)
    // Neither the secret nor anything else was said to somebody who is not who he should be.
    expect(service.requests).toEqual([])
  }

  it('of an unknown authority is refused before the secret is sent', async () => {
    await serve(LOOPBACK)
    await expectRefusal(service.url, /certificate of 127\.0\.0\.1.*is not trusted/)
  })

  it('that has expired is refused before the secret is sent', async () => {
    await serve(EXPIRED)
    await expectRefusal(service.url, /certificate of 127\.0\.0\.1.*CERT_HAS_EXPIRED/, TRUSTED)
  })

  it('of another host is refused before the secret is sent', async () => {
    await serve(OTHER_HOST)
    await expectRefusal(service.url, /certificate of 127\.0\.0\.1.*ALTNAME/, TRUSTED)
  })

  it('does not help a service that supports only an old protocol', async () => {
    await serve(LOOPBACK, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' })
    await expectRefusal(service.url, /No secure connection to 127\.0\.0\.1/)
  })
})
