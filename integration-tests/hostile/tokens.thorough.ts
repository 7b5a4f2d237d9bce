import { describe, expect, it } from 'vitest'
import {
  type Answers,
  chunked,
  cut,
  gzipped,
  head,
  page,
  repeated,
  reply,
  rowOf,
  type Wire,
} from './raw-service.ts'
import {
  DELTA_TOKEN,
  expectFailure,
  expectNoLeak,
  type FailureType,
  LIST,
  PREFIX,
  runScenario,
  SECRET,
  STREAM,
  secondPage,
  TOKEN,
  token,
} from './scenario.ts'

type Row = readonly [name: string, wire: Wire, failure: FailureType, words: string | RegExp]

const UNUSABLE = 'without a usable access token'
const NOT_OF_THE_ENDPOINT = 'not a JSON object'
const answer = (value: unknown) => reply(200, JSON.stringify(value))

describe('a token answer', () => {
  const rows: Row[] = [
    ['that is empty', reply(200, ''), 'transient', NOT_OF_THE_ENDPOINT],
    ['that is a web page', reply(200, '<html>Sign in'), 'transient', NOT_OF_THE_ENDPOINT],
    ['that is null', answer(null), 'transient', NOT_OF_THE_ENDPOINT],
    ['that is a list', answer([TOKEN]), 'transient', NOT_OF_THE_ENDPOINT],
    ['that is a text', answer(TOKEN), 'transient', NOT_OF_THE_ENDPOINT],
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
    ['that is cut', reply(200, `{"access_token":"${TOKEN}"`), 'transient', NOT_OF_THE_ENDPOINT],
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
    ['of 429', reply(429, ''), 'transient', 'Too many requests'],
    ['of 500', reply(500, '{"error":"server_error"}'), 'transient', 'server_error'],
    ['of 503', reply(503, '<html>'), 'transient', 'The service failed (503'],
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

const FILLER = 'x'.repeat(490)
const DELTA = `${PREFIX}/delta/departments?deltaToken=${DELTA_TOKEN}`

/** Ways in which a service says again what it was told: `one` secret, or `all` of them in one text. */
const echoes: (readonly [name: string, wire: (all: string, one: string) => Wire])[] = [
  ['an error in plain text', (all) => reply(405, all)],
  [
    'an error in JSON',
    (all) => reply(405, JSON.stringify({ error: { message: all, reasons: [all] } })),
  ],
  ['an error with escapes in it', (all) => reply(405, `{"message":"${escaped(all)}"}`)],
  [
    'an error in form encoding',
    (all) => reply(405, new URLSearchParams({ secret: all }).toString()),
  ],
  ['an error in another form encoding', (all) => reply(405, encodeURIComponent(all))],
  ['an error in base64', (all) => reply(405, Buffer.from(all).toString('base64'))],
  [
    'an error with a header of basic authentication',
    (_all, one) => reply(405, `Basic ${Buffer.from(`connector:${one}`).toString('base64')}`),
  ],
  ['an error in hexadecimal digits', (all) => reply(405, Buffer.from(all).toString('hex'))],
  ['an error in capitals', (all) => reply(405, all.toUpperCase())],
  [
    'an error in HTML',
    (all) => reply(405, `It is ${all.replace(/\W/g, (c) => `&#${c.charCodeAt(0)};`)}`),
  ],
  ['an error of several lines', (all) => reply(405, all.replaceAll(' ', '\r\n'))],
  ['an error that is cut in the middle of it', (_all, one) => reply(405, `${FILLER}${one}`)],
  ['an error that is cut a little later', (_all, one) => reply(405, `${FILLER.slice(8)}${one}`)],
  ['an error page', (all) => reply(405, `<p title="${all}">${all}</p>`)],
  ['a page in plain text', (all) => reply(200, `Welcome, holder of ${all}`)],
  ['a page that begins with it', (all) => reply(200, all)],
  ['a web page', (all) => reply(200, `<html lang="${all}">`)],
  ['JSON that is not a page', (all) => reply(200, JSON.stringify(all))],
  ['names of members', (all) => reply(200, JSON.stringify({ [all]: 1 }))],
  ['a status line', (_all, one) => reply(`405 ${one}`, '')],
  ['a header', (_all, one) => head(405, { 'x-token': one, 'content-length': 0 })],
  ['an encoding', (_all, one) => reply(200, 'x', { 'content-encoding': `a ${one}` })],
  ['a retry time', (_all, one) => reply(503, '', { 'retry-after': one })],
  ['a redirect', (_all, one) => head(302, { location: `/${one}/${one}`, 'content-length': 0 })],
  [
    'a redirect in the API',
    (_all, one) => head(302, { location: `${PREFIX}/${one}`, 'content-length': 0 }),
  ],
  ['a next link', (_all, one) => page([], { nextLink: `https://${one}.example/${one}` })],
  [
    'a next link in the API',
    (_all, one) => page([], { nextLink: `${PREFIX}/${encodeURIComponent(one)}` }),
  ],
  // Of this one only the beginning arrives, which no mask knows.
  ['an error that breaks off', (_all, one) => cut(reply(403, `no ${one}`).subarray(0, -8))],
  ['a damaged status line', (_all, one) => `HTTP/1.1 ${one}\r\n\r\n`],
  ['a damaged header', (_all, one) => `HTTP/1.1 200 X\r\n${one}\r\n\r\n`],
  [
    'a damaged chunk',
    (_all, one) => `HTTP/1.1 200 X\r\ntransfer-encoding: chunked\r\n\r\n${one}\r\n`,
  ],
]

describe('a secret that the service repeats is not shown', () => {
  it.each(echoes)('in %s', async (_name, wire) => {
    const recording = await runScenario({
      // What a link in the API leads to is not there.
      api: () => (asked) =>
        asked.target === LIST
          ? wire(`${SECRET} ${TOKEN}`, TOKEN)
          : reply(404, `No ${decodeURIComponent(asked.target)}`),
    })
    expect(recording.exitCode).toBe(1)
    expectNoLeak(recording)
  })

  it.each(echoes)('in %s of the token endpoint', async (_name, wire) => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: () => () => wire(SECRET, SECRET),
    })
    expect(recording.exitCode).toBe(1)
    expectNoLeak(recording)
  })

  it.each(echoes)('in %s of a delta link', async (_name, wire) => {
    const recording = await runScenario({
      stream: 'departments',
      api: deltaThat(wire(`${SECRET} ${TOKEN} ${DELTA_TOKEN}`, DELTA_TOKEN)),
    })
    expect(recording.states('departments').length).toBeGreaterThan(0)
    expectNoLeak(recording)
  })

  it.each(echoes)('in %s to a check', async (_name, wire) => {
    const recording = await runScenario({
      command: 'check',
      api: () => () => wire(`${SECRET} ${TOKEN}`, SECRET),
    })
    expectNoLeak(recording)
  })

  it('when it was issued later', async () => {
    const second = 'the-second-token-of-this-run'
    let tokens = 0
    const recording = await runScenario({
      ...secondPage(() => reply(403, `Bearer ${second} may not`)),
      token: () => () => token(tokens++ > 0 ? { access_token: second } : {}),
    })
    expect(recording.exitCode).toBe(1)
    expect(recording.stdout).not.toContain(second)
  })
})

function deltaThat(wire: Wire): (elsewhere: string) => Answers {
  return () => (asked) => {
    if (asked.target.includes('deltaToken')) return wire
    return page([rowOf(1)], { deltaLink: DELTA })
  }
}

function escaped(text: string): string {
  return [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')
}
