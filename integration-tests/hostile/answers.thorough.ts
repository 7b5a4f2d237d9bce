import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { cut, gzipped, head, pageBody, reply, rowOf, type Wire } from './raw-service.ts'
import {
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  type FailureType,
  runScenario,
  SECOND,
  STREAM,
  secondPage,
} from './scenario.ts'

type Row = readonly [name: string, wire: Wire, failure: FailureType, words: string | RegExp]

const PAGE = pageBody([rowOf(3)])
const CHUNKED = head(200, { 'transfer-encoding': 'chunked' }).toString()

/** Says that the answer will come, again and again, and never sends it. */
async function hintingForEver(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    socket.write('HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n')
    await sleep(100)
  }
}

async function expectDamage([, wire, failure, words]: Row): Promise<void> {
  const recording = await runScenario(secondPage(() => wire))
  expectFailure(recording, failure, words)
  expectStoppedBeforeSecondPage(recording)
  expectNoLeak(recording)
}

describe.concurrent('an answer that is not what HTTP promises', () => {
  const rows: Row[] = [
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n', 'transient', 'not valid HTTP'],
    ['a status that is no number', 'HTTP/1.1 OK\r\n\r\n', 'transient', 'not valid HTTP'],
    [
      'a header without a colon',
      'HTTP/1.1 200 X\r\nnonsense\r\n\r\n',
      'transient',
      'not valid HTTP',
    ],
    ['a NUL byte in a header', 'HTTP/1.1 200 X\r\na: \0\r\n\r\n', 'transient', 'not valid HTTP'],
    ['a damaged chunk', `${CHUNKED}zz\r\n`, 'transient', 'not valid HTTP'],
    ['a length below zero', head(200, { 'content-length': -1 }), 'transient', 'not valid HTTP'],
    ['a length in words', head(200, { 'content-length': 'long' }), 'transient', 'not valid HTTP'],
    [
      '64 KB of headers',
      head(200, { 'x-much': 'x'.repeat(65_536) }),
      'transient',
      'not valid HTTP',
    ],
    [
      'two lengths',
      'HTTP/1.1 200 X\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}',
      'transient',
      'not valid HTTP',
    ],
    [
      'a length and chunks',
      head(200, { 'content-length': 5, 'transfer-encoding': 'chunked' }),
      'transient',
      'not valid HTTP',
    ],
    [
      'an upgrade that nobody asked for',
      head(101, { upgrade: 'x', connection: 'upgrade' }),
      'transient',
      'broke',
    ],
    [
      'a body that is longer than its length',
      reply(200, PAGE, { 'content-length': 30 }),
      'system',
      'ends inside element 1',
    ],
    [
      'a body that is shorter than its length',
      cut(reply(200, PAGE, { 'content-length': 9999 })),
      'transient',
      'broke',
    ],
    ['chunks without a last one', cut(`${CHUNKED}5\r\n{"val\r\n`), 'transient', 'broke'],
    [
      'no length and half a body',
      cut(Buffer.concat([head(200, { connection: 'close' }), Buffer.from(PAGE.slice(0, -9))])),
      'system',
      'ends inside element 1',
    ],
    ['a connection that is closed', cut(''), 'transient', 'broke'],
    ['a reset before the headers', cut('', 'break'), 'transient', 'broke'],
    ['a reset within the headers', cut('HTTP/1.1 200', 'break'), 'transient', 'broke'],
    [
      'a reset within the body',
      cut(reply(200, PAGE).subarray(0, -9), 'break'),
      'transient',
      'broke',
    ],
    ['a promise without an answer', hintingForEver, 'transient', 'sends interim responses'],
    ['silence', () => {}, 'transient', 'silent'],
    [
      'silence within the body',
      reply(200, '{"value":[', { 'content-length': 500 }),
      'transient',
      'silent',
    ],
  ]
  it.each(rows)('%s', async (...row) => expectDamage(row))
})

describe('an encoding that cannot be decoded', () => {
  const zipped = gzipSync(PAGE)
  const coded = (encoding: string, body: Buffer | string = PAGE) =>
    reply(200, body, { 'content-encoding': encoding })
  const rows: Row[] = [
    ['gzip that is not', coded('gzip'), 'transient', 'cannot be decompressed'],
    ['brotli that is not', coded('br'), 'transient', 'cannot be decompressed'],
    ['damaged gzip', coded('gzip', damaged(zipped)), 'transient', 'cannot be decompressed'],
    ['gzip that is cut', coded('gzip', zipped.subarray(0, -12)), 'transient', 'broke'],
    [
      'brotli that is cut',
      coded('br', brotliCompressSync(PAGE).subarray(0, -4)),
      'transient',
      'broke',
    ],
    ['no bytes of gzip', coded('gzip', ''), 'transient', 'broke'],
    [
      'deflate, which was not requested',
      coded('deflate', deflateSync(PAGE)),
      'system',
      '"deflate"',
    ],
    ['an unknown one', coded('zstd'), 'system', '"zstd"'],
    ['two at once', coded('gzip, br'), 'system', '"gzip, br"'],
    ['gzip of a web page', gzipped('<html>'), 'system', 'not JSON'],
  ]
  it.each(rows)('%s', async (...row) => expectDamage(row))

  it.each([
    [
      'two members of gzip',
      coded('gzip', Buffer.concat([gzipSync(PAGE.slice(0, 9)), gzipSync(PAGE.slice(9))])),
    ],
    ['X-GZIP', coded('X-GZIP', zipped)],
    ['identity', coded('identity')],
    ['brotli', coded('br', brotliCompressSync(PAGE))],
    ['the content type text/plain', reply(200, PAGE, { 'content-type': 'text/plain' })],
    ['the content type of a web page', reply(200, PAGE, { 'content-type': 'text/html' })],
    ['no content type', reply(200, PAGE, { 'content-type': '' })],
    ['a content type without sense', reply(200, PAGE, { 'content-type': ';;=,' })],
    [
      'another character set by name',
      reply(200, PAGE, { 'content-type': 'application/json; charset=latin1' }),
    ],
  ])('but reads %s', async (_name, wire) => {
    const recording = await runScenario(secondPage(() => wire))
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(3)
  })
})

describe.concurrent('a status that is not success', () => {
  const error = (status: number, body = '{"error":{"code":"X","message":"Because of rain"}}') =>
    reply(status, body)
  const rows: Row[] = [
    ['201', error(201), 'system', 'unexpected status (201'],
    ['202', error(202), 'system', 'unexpected status (202'],
    ['204', head(204), 'system', 'unexpected status (204'],
    ['206', error(206), 'system', 'unexpected status (206'],
    ['300', error(300), 'system', 'unexpected status (300'],
    ['304', head(304), 'system', 'unexpected status (304'],
    ['402', error(402), 'system', 'Because of rain'],
    ['401', error(401), 'config', 'Because of rain'],
    ['403', error(403), 'config', 'Because of rain'],
    ['405', error(405), 'config', 'Because of rain'],
    ['407', error(407), 'config', /proxy/i],
    ['408', error(408), 'transient', 'Because of rain'],
    ['413', error(413), 'system', 'Because of rain'],
    ['414', error(414), 'config', 'too long'],
    ['418', error(418), 'system', 'unexpected status (418'],
    ['429', error(429), 'transient', 'Too many requests'],
    ['431', error(431), 'system', 'Because of rain'],
    ['451', error(451), 'system', 'Because of rain'],
    ['500', error(500), 'transient', 'Because of rain'],
    ['501', error(501), 'system', 'Because of rain'],
    ['503', error(503), 'transient', 'Because of rain'],
    ['599', error(599), 'transient', 'Because of rain'],
    ['999', error(999), 'system', 'unexpected status (999'],
    ['099', error(99), 'transient', 'not valid HTTP'],
  ]
  it.each(rows)('%s', async (...row) => expectDamage(row))
})

describe('a next link that is dead', () => {
  // spec: Errors: 410
  it.each([400, 404, 409, 410])('by status %s starts over once', async (status) => {
    const recording = await runScenario(
      secondPage(() => reply(status, '{"error":"Unknown token"}')),
    )
    expectFailure(recording, 'transient', 'Unknown token')
    expect(recording.records(STREAM).map(({ id }) => id)).toEqual([1, 2, 1, 2])
    expect(recording.states(STREAM).at(-1)).toMatchObject({ phase: 'list', link: SECOND })
    expectNoLeak(recording)
  })
})

describe('an error body', () => {
  const words = (body: string | Buffer, headers = {}) => reply(500, body, headers)
  const rows: Row[] = [
    ['without content', words(''), 'transient', /\(500 for [^)]+\)\. \[service-fails\]$/],
    [
      'of a web page',
      words('<html><h1>Oops</h1>'),
      'transient',
      /\(500 for [^)]+\)\. \[service-fails\]$/,
    ],
    ['of plain text', words('It rains\n\n'), 'transient', /\(500 for [^)]+\)\. \[service-fails\]$/],
    ['of a string', words('"It rains"'), 'transient', /\(500 for [^)]+\)\. \[service-fails\]$/],
    ['of a list', words('["a","b"]'), 'transient', /\(500 for [^)]+\)\. \[service-fails\]$/],
    ['of null', words('null'), 'transient', '(500 for'],
    ['of numbers', words('{"error":7}'), 'transient', '(500 for'],
    [
      'with reasons',
      words('{"error":{"message":"m","reasons":["r1","r2"]}}'),
      'transient',
      ': m; r1; r2.',
    ],
    [
      'with control characters',
      words('{"error":"a\\u0000b\\u001b[31mc\u0085d"}'),
      'transient',
      '): a b [31mc d.',
    ],
    [
      'that is not UTF-8',
      words(Buffer.from([0x61, 0xff, 0xfe])),
      'transient',
      /\(500 for [^)]+\)\. \[service-fails\]$/,
    ],
    [
      'of 50 levels',
      words(`${'{"error":'.repeat(50)}"deep"${'}'.repeat(50)}`),
      'transient',
      '(500 for',
    ],
    ['of 100,000 levels', words('['.repeat(100_000)), 'transient', '(500 for'],
    [
      'of 10,000 levels',
      words(`${'['.repeat(10_000)}"deep"${']'.repeat(10_000)}`),
      'transient',
      '(500 for',
    ],
    ['of 10 MB', words('x'.repeat(1e7)), 'transient', '(500 for'],
    [
      'in an encoding of its own',
      words('x', { 'content-encoding': 'zstd' }),
      'transient',
      '(500 for',
    ],
    ['in damaged gzip', words('x', { 'content-encoding': 'gzip' }), 'transient', '(500 for'],
    ['that breaks off', cut(words('x', { 'content-length': 99 })), 'transient', '(500 for'],
    [
      'of prototype names',
      words('{"__proto__":{"message":"p"},"constructor":1}'),
      'transient',
      '(500 for',
    ],
  ]
  it.each(rows)('%s', async (...row) => expectDamage(row))
})

function damaged(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  copy.fill(0xaa, 12, 20)
  return copy
}
