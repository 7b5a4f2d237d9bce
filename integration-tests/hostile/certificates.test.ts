import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { run } from '../testing/run.ts'
import { type RawService, type RawServiceOptions, startRawService } from './raw-service.ts'
import { configOf, SECRET, STREAM, token } from './scenario.ts'

// All are signed by themselves with the key in fixtures, and so their own authority.
const KEY = readFileSync(new URL('../fixtures/loopback-key.pem', import.meta.url), 'utf8')
const LOOPBACK = new URL('../fixtures/loopback-certificate.pem', import.meta.url)
const EXPIRED = new URL('certificates/expired.pem', import.meta.url)
const OTHER_HOST = new URL('certificates/of-another-host.pem', import.meta.url)

let service: RawService
afterEach(() => service.close())

async function serve(certificate: URL, options: object = {}): Promise<void> {
  const tls = { key: KEY, cert: readFileSync(certificate, 'utf8'), ...options }
  service = await startRawService(() => token(), { tls } as RawServiceOptions)
}

async function expectRefusal(url: string, certificate: URL, words: RegExp): Promise<void> {
  const read = await run({
    program: 'source-protime',
    command: 'read',
    config: configOf(url),
    catalog: [STREAM],
    environment: { NODE_EXTRA_CA_CERTS: fileURLToPath(certificate) },
  })
  expect(read.errors).toMatchObject([
    { failure_type: 'config_error', message: expect.stringMatching(words) },
  ])
  expect(read.exitCode).toBe(1)
  expect(read.stdout).not.toContain(SECRET)
  // Neither the secret nor anything else was said to somebody who is not who he should be.
  expect(service.requests).toEqual([])
}

describe('a certificate', () => {
  it('that nobody knows is refused before the secret is sent', async () => {
    await serve(LOOPBACK)
    await expectRefusal(service.url, EXPIRED, /certificate of 127\.0\.0\.1.*is not trusted/)
  })

  it('that has expired is refused before the secret is sent', async () => {
    await serve(EXPIRED)
    await expectRefusal(service.url, EXPIRED, /certificate of 127\.0\.0\.1.*CERT_HAS_EXPIRED/)
  })

  it('of another host is refused before the secret is sent', async () => {
    await serve(OTHER_HOST)
    await expectRefusal(service.url, OTHER_HOST, /certificate of 127\.0\.0\.1.*ALTNAME/)
  })

  it('is of no use to a service that speaks an old protocol only', async () => {
    await serve(LOOPBACK, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL@SECLEVEL=0' })
    await expectRefusal(service.url, LOOPBACK, /No secure connection to 127\.0\.0\.1/)
  })
})
