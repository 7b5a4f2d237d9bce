import type { lookup as systemLookup } from 'node:dns'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isPrivateAddress, isPublicAddress, isPublicOnly } from './public-hosts.ts'
import { reply, startHttpService } from './testing/http-service.ts'
import { failureOf } from './testing/open-client.ts'
import { createTransport } from './transport.ts'

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

  it('that is none is not public', () => {
    expect(isPublicAddress('example')).toBe(false)
  })
})

it.each([
  [{}, false],
  [{ DEPLOYMENT_MODE: 'oss' }, false],
  [{ DEPLOYMENT_MODE: 'cloud' }, true],
  [{ DEPLOYMENT_MODE: 'CLOUD' }, true],
  [{ PROTIME_PUBLIC_ONLY: '' }, false],
  [{ PROTIME_PUBLIC_ONLY: '0' }, false],
  [{ PROTIME_PUBLIC_ONLY: '1' }, true],
  [{ PROTIME_PUBLIC_ONLY: 'true' }, true],
])('with the environment %j requests go to public hosts alone: %s', (env, expected) => {
  expect(isPublicOnly(env)).toBe(expected)
})

/** A lookup that answers with these addresses, one list at a time, and counts. */
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

it('an answer tells whether its host is one of a private network', async () => {
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

describe('where public hosts alone may be asked', () => {
  it('nothing is sent by plain http', async () => {
    const { origin, requests } = await startHttpService((_, response) => reply(response, 200, 'x'))
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
