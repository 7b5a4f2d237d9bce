import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  KEY,
  NONCE,
  PATH,
  sign,
  startReceiver,
} from '../../src/webhooks/receive/testing/start-receiver.ts'
import { runSettings } from '../histories/property.ts'

/** What is sent to a receiver by somebody who knows its address and no key, drawn anew each night; more of it then. */

const BODY = '{"id":1,"changeVersion":"00000A"}'
const WRONG = sign(BODY, 'another key')
const OF_ANOTHER_BODY = sign('{}', KEY)

const paths = fc.constantFrom(
  ...[PATH, PATH, PATH, PATH, `${PATH}?x=1`, `${PATH}/`, `/${PATH}`, `${PATH}%00`, `${PATH}#x`],
  ...[`http://hooks${PATH}`, PATH.toUpperCase(), `${PATH}/../..`, `/x/..${PATH}`, '*', ''],
)
const headers = fc.array(
  fc.constantFrom(
    ...[
      `Content-Length: ${BODY.length}`,
      'Content-Length: 0',
      'Content-Length: 5',
      'Content-Length: -1',
    ],
    ...[
      'Content-Length: +33',
      'Content-Length: 0x21',
      'Content-Length : 33',
      'Content-Length: 99999999999',
    ],
    ...['Transfer-Encoding: chunked', 'Transfer-Encoding: xchunked', 'Transfer-Encoding : chunked'],
    ...[
      'Transfer-Encoding: chunked, identity',
      'Transfer-Encoding:\x0bchunked',
      'transfer-encoding: CHUNKED',
    ],
    ...[
      `Authorization: ${WRONG}`,
      `Authorization: ${OF_ANOTHER_BODY}`,
      'Authorization: HMAC-SHA256 ',
    ],
    ...['Authorization: HMAC-SHA256 AAAA', `Authorization: hmac-sha256 ${WRONG.slice(12)}`],
    ...[`X-Authorization: ${WRONG}`, ` Authorization: ${WRONG}`, `Authorization: ${WRONG}\x1b[2J`],
    ...['Expect: 100-continue', 'Connection: keep-alive', 'Connection: close, authorization'],
    ...[
      'Content-Encoding: gzip',
      'X: \0',
      'X: \x1b]0;owned\x07',
      'Host: evil',
      'Upgrade: websocket',
    ],
    ...[`X: ${'y'.repeat(20_000)}`, 'no colon', ': no name', 'X: é\xff'],
  ),
  { maxLength: 5 },
)
const bodies = fc.constantFrom(
  ...[
    BODY,
    '',
    '{}',
    '\0'.repeat(100),
    'x'.repeat(50_000),
    `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`,
  ],
  ...['0\r\n\r\n', 'fffffffff\r\n', '5;x=\r\nhello\r\n0\r\n\r\n', '-1\r\n'],
  // A second request within the first.
  `0\r\n\r\nPOST ${PATH} HTTP/1.1\r\nHost: hooks\r\nContent-Length: 2\r\nAuthorization: ${WRONG}\r\n\r\n{}`,
)
const requests = fc
  .record({
    method: fc.constantFrom(
      'POST',
      'POST',
      'POST',
      'GET',
      'PUT',
      'post',
      'CONNECT',
      'OPTIONS',
      'POST\t',
    ),
    path: paths,
    version: fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1\0', ''),
    headers,
    end: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r'),
    body: bodies,
  })
  .map(({ method, path, version, headers: lines, end, body }) =>
    Buffer.from(
      [`${method} ${path} ${version}`, 'Host: hooks', ...lines, '', body].join(end),
      'latin1',
    ),
  )

it('a sender without the key delivers nothing, writes nothing of its own to the log, and blocks no others', {
  timeout: 3_600_000,
}, async () => {
  const receiver = await startReceiver()
  let delivered = 0
  const { runs, path } = runSettings(100)
  const attacks = fc.array(requests, { minLength: 1, maxLength: 3 })
  const property = fc.asyncProperty(attacks, async (attack) => {
    const connection = await receiver.open()
    for (const request of attack) await connection.sent(request)
    expect(await receiver.deliver(BODY)).toBe(200)
    delivered++
    connection.end()
    await connection.closed
    expect(receiver.verified).toHaveLength(delivered)
    expect(connection.statuses().filter((status) => status < 400)).toEqual([])
    const told = receiver.warnings.join('')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
    expect(told).not.toMatch(/[\x00-\x1f\x7f-\x9f]/)
    for (const secret of [KEY, NONCE, WRONG.slice(12), OF_ANOTHER_BODY.slice(12)])
      expect(told).not.toContain(secret)
  })
  await fc.assert(property, { numRuns: runs, ...(path === undefined ? {} : { path }) })
})
