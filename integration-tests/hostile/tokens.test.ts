import { describe, expect, it } from 'vitest'
import { expectFailure, expectNoLeak, type FailureType } from './expectations.ts'
import type { Wire } from './raw-service.ts'
import { runScenario, SECRET, STREAM, TOKEN, token } from './scenario.ts'
import { chunked, gzipped, head, page, repeated, reply, rowOf } from './wire.ts'

type Row = readonly [name: string, wire: Wire, failure: FailureType, words: string | RegExp]

const UNUSABLE = 'without a usable access token'
const answer = (value: unknown) => reply(200, JSON.stringify(value))

describe('a token answer', () => {
  const rows: Row[] = [
    ['that is empty', reply(200, ''), 'system', UNUSABLE],
    ['that is a web page', reply(200, '<html>Sign in'), 'system', UNUSABLE],
    ['that is null', answer(null), 'system', UNUSABLE],
    ['that is a list', answer([TOKEN]), 'system', UNUSABLE],
    ['that is a text', answer(TOKEN), 'system', UNUSABLE],
    ['without a token', answer({ expires_in: 1800 }), 'system', UNUSABLE],
    ['with an empty token', answer({ access_token: '' }), 'system', UNUSABLE],
    ['with a number as token', answer({ access_token: 7 }), 'system', UNUSABLE],
    ['with a header in its token', answer({ access_token: 'a\r\nHost: evil' }), 'system', UNUSABLE],
    ['with a space in its token', answer({ access_token: 'a b' }), 'system', UNUSABLE],
    ['with a NUL byte in its token', answer({ access_token: 'a\0' }), 'system', UNUSABLE],
    [
      'with letters no header takes',
      answer({ access_token: 'caf\u00e9\u{1f600}' }),
      'system',
      UNUSABLE,
    ],
    [
      'with a token for machines',
      answer({ access_token: TOKEN, token_type: 'mac' }),
      'system',
      'not a bearer token',
    ],
    ['that is cut', reply(200, `{"access_token":"${TOKEN}"`), 'system', UNUSABLE],
    ['of 5 MB', reply(200, `{"access_token":"${'x'.repeat(5e6)}"}`), 'system', 'too large'],
    ['without an end', chunked(repeated('{"a":"', 'x'.repeat(65_536))), 'system', 'too large'],
    ['that is a gzip bomb', gzipped(Buffer.alloc(50e6)), 'system', 'too large'],
    [
      'of 201',
      reply(201, token().subarray(token().indexOf('{'))),
      'system',
      'unexpected status (201',
    ],
    ['of 204', head(204), 'system', 'unexpected status (204'],
    ['of 400 without words', reply(400, ''), 'config', 'does not accept the request (400'],
    [
      'of 400 invalid_request',
      reply(400, '{"error":"invalid_request"}'),
      'config',
      'invalid_request',
    ],
    ['of 400 invalid_client', reply(400, '{"error":"invalid_client"}'), 'config', 'Check both'],
    ['of 401', reply(401, '{"error":"invalid_client"}'), 'config', 'Check both'],
    ['of 401 in a web page', reply(401, '<html>'), 'config', 'Check both'],
    [
      'of 400 invalid_scope for ever',
      reply(400, '{"error":"invalid_scope"}'),
      'config',
      'invalid_scope',
    ],
    ['of 403', reply(403, '{"error":"blocked"}'), 'config', 'blocked'],
    ['of 404', reply(404, ''), 'config', 'no token service'],
    ['of 429', reply(429, ''), 'transient', 'asked too often'],
    ['of 500', reply(500, '{"error":"server_error"}'), 'transient', 'server_error'],
    ['of 503', reply(503, '<html>'), 'transient', 'The service fails (503'],
  ]
  it.each(rows)('%s', async (_name, wire, failure, words) => {
    const recording = await runScenario({
      api: () => () => page([rowOf(1)]),
      token: () => () => wire,
    })
    expectFailure(recording, failure, words)
    expect(
      recording.service.requests.filter(({ target }) => target.startsWith('/connector')),
    ).toEqual([])
    expect(recording.messages.filter(({ type }) => type === 'STATE')).toEqual([])
    expectNoLeak(recording)
  })

  it.each([
    ['expires_in 0', { expires_in: 0 }],
    ['expires_in below zero', { expires_in: -1 }],
    ['expires_in in words', { expires_in: 'abc' }],
    ['expires_in as text', { expires_in: '1800' }],
    ['expires_in beyond all time', { expires_in: 1e308 }],
    ['expires_in null', { expires_in: null }],
    ['expires_in a list', { expires_in: [1800] }],
    ['no token_type', { token_type: undefined }],
    ['token_type BEARER', { token_type: 'BEARER' }],
    ['token_type a number', { token_type: 1 }],
    ['a scope that is no text', { scope: 7 }],
    ['an empty scope', { scope: ' ' }],
    ['members nobody knows', { __proto__: null, constructor: 1, refresh_token: 'x' }],
  ])('with %s is good enough', async (_name, extra) => {
    const recording = await runScenario({
      api: () => () => page([rowOf(1)]),
      token: () => () => token(extra),
    })
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(1)
    // One token is enough for two requests, however odd its lifetime.
    expect(recording.service.requests.filter(({ method }) => method === 'POST')).toHaveLength(1)
  })

  it('that grants other scopes makes the stream fail and names the missing one', async () => {
    const recording = await runScenario({
      api: () => () => page([rowOf(1)]),
      token: () => () => token({ scope: 'openid profile' }),
    })
    expectFailure(recording, 'config', 'connector-svcapi-job-categories.read')
  })
})

describe('a token that no request accepts', () => {
  it('is renewed a few times and no more', async () => {
    const recording = await runScenario({ api: () => () => reply(401, '') })
    expectFailure(recording, 'config', 'The service does not accept the access token')
    expect(recording.service.requests.length).toBeLessThan(9)
    expectNoLeak(recording)
  })
})

describe('the time in the Date header', () => {
  it.each([
    ['is missing', ''],
    ['is no time', 'yesterday'],
    ['is a number', '1800'],
    ['is before our time', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['is beyond the year 9999', 'Sat, 01 Jan 20000 00:00:00 GMT'],
    ['is at the end of time', 'Fri, 31 Dec 9999 23:59:59 GMT'],
    ['is below zero', 'Thu, 01 Jan -200 00:00:00 GMT'],
  ])('may be strange: %s', async (_name, date) => {
    const body = JSON.stringify({ access_token: TOKEN })
    const recording = await runScenario({
      stream: 'clockings',
      api: () => (asked) =>
        asked.target.includes('delta')
          ? page([], { deltaLink: '/connector/svcapi/api/v1/delta/clockings?deltaToken=12345678' })
          : page([]),
      token: () => () => reply(200, body, { date }),
    })
    expect(recording.errors).toEqual([])
    expect(recording.states('clockings').at(-1)).toMatchObject({ phase: 'changes' })
    expect(JSON.stringify(recording.states('clockings').at(-1))).toMatch(/"link_at":"20\d\d-/)
  })
})

describe('the secret', () => {
  it('is sent to the token endpoint only, in the body', async () => {
    const { service } = await runScenario({ api: () => () => page([rowOf(1)]) })
    const seen = service.requests.filter((asked) =>
      [asked.target, asked.body, ...asked.headers.values()].some(
        (text) => text.includes(SECRET) || text.includes(encodeURIComponent(SECRET)),
      ),
    )
    expect(seen.map(({ method, target }) => [method, target])).toEqual([
      ['POST', '/tenants/demo/connect/token'],
    ])
    expect(seen[0]?.target).not.toContain('secret')
  })
})
