import { readFileSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, type Server as NetServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { run } from './testing/run.ts'

const CERTIFICATE = new URL('fixtures/loopback-certificate.pem', import.meta.url)
const KEY = new URL('fixtures/loopback-key.pem', import.meta.url)
const TRUSTED = { NODE_EXTRA_CA_CERTS: fileURLToPath(CERTIFICATE) }

let service: Server
let port: number
const open: NetServer[] = []

beforeEach(async () => {
  service = createServer({ key: readFileSync(KEY), cert: readFileSync(CERTIFICATE) })
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

/** Checks the connection to the service at an address, in a process of its own. */
async function check(origin: string, environment: Readonly<Record<string, string>>) {
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
    environment,
  })
  return messages.find(({ connectionStatus }) => connectionStatus)?.connectionStatus
}

describe('a service whose certificate no known authority has signed', () => {
  it('is not trusted, and the check says which setting helps', async () => {
    expect(await check(`https://127.0.0.1:${port}`, {})).toEqual({
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
