import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/api/client.ts'
import { shortPatience } from '../../src/api/testing/short-patience.ts'
import { createPages } from '../../src/sync/pages.ts'
import {
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  type FailureType,
} from './judge.ts'
import { type Answers, startRawService, type Wire } from './raw-service.ts'
import { type Measured, readMeasured } from './run-measured.ts'
import { configOf, PREFIX, play, STREAM, secondPage, token } from './scenario.ts'
import { chunked, head, page, repeated, reply, rowOf } from './wire.ts'

const KILOBYTES_64 = 65_536
const SPACES = Buffer.alloc(KILOBYTES_64, ' ')
const LETTERS = Buffer.alloc(KILOBYTES_64, 'x')
const NO_END = 'a page without an end'

const zeros = gzipSync(Buffer.alloc(200 * 1024 ** 2, ' '))

async function measured(api: Answers, stream = STREAM): Promise<Measured> {
  const service = await startRawService((asked, nth) =>
    asked.target.includes('/connect/token') ? token() : api(asked, nth),
  )
  try {
    return await readMeasured(configOf(service.url), stream)
  } finally {
    await service.close()
  }
}

describe('a body without an end', () => {
  const rows: (readonly [name: string, wire: () => Wire, words: string, megabytes: number])[] = [
    ['of spaces', () => chunked(repeated('', SPACES)), NO_END, 150],
    ['of spaces within a list', () => chunked(repeated('{"value":[', SPACES)), NO_END, 150],
    ['of one text', () => chunked(repeated('{"x":"', LETTERS)), NO_END, 150],
    [
      'of members nobody knows',
      () => chunked(repeated('{"x":[0', ',1'.repeat(30_000))),
      NO_END,
      150,
    ],
    ['of one name', () => chunked(repeated('{"', LETTERS)), 'larger than', 200],
    ['of one link', () => chunked(repeated('{"nextLink":"', LETTERS)), 'larger than', 200],
    ['of brackets', () => chunked(repeated('{"x":', '['.repeat(30_000))), 'nested deeper', 150],
    ['that is not JSON', () => chunked(repeated('', LETTERS)), 'not JSON', 150],
    [
      'of 200 MB in 200 KB of gzip',
      () => reply(200, zeros, { 'content-encoding': 'gzip' }),
      NO_END,
      150,
    ],
    [
      'of a gigabyte in one text',
      () => chunked(repeated('{"value":[{"id":1,"x":"', LETTERS, 16_384, '"}]}')),
      'larger than',
      200,
    ],
  ]
  it.each(rows)('%s', async (_name, wire, words, megabytes) => {
    const { messages, exitCode, peakMegabytes } = await measured(wire)
    const errors = messages.flatMap(({ trace }) => (trace?.error ? [trace.error] : []))
    expect(errors).toMatchObject([
      { failure_type: 'system_error', message: expect.stringContaining(words) },
    ])
    expect(messages.filter(({ type }) => type === 'STATE')).toEqual([])
    expect(exitCode).toBe(1)
    expect(peakMegabytes).toBeLessThan(megabytes)
  })

  it('of records is given up at 4 GiB', async () => {
    const part = Buffer.alloc(64 * 1024 ** 2)
    let sent = 0
    const client = {
      accept() {},
      get: async () => ({
        parts: (async function* () {
          for (;;) {
            sent += part.length
            yield part
          }
        })(),
      }),
    } as unknown as Client
    const batch = { count: 1, keys: new Float64Array([1]) }
    const scanner = { begin() {}, push: () => batch, end: () => ({ count: 0 }) }
    const pages = createPages({
      client,
      reader: { scanner } as never,
      signal: new AbortController().signal,
      patience: shortPatience(),
      waits: { rateLimited() {}, waiting() {} },
    })
    const handler = { batch: () => undefined, broken() {}, end: () => undefined }
    await expect(pages.follow('/first', 'start', handler)).rejects.toThrow(NO_END)
    expect(sent).toBe(4 * 1024 ** 3 + part.length)
  })

  it('of references, which are parsed whole, is given up at 64 MiB', async () => {
    const { messages, peakMegabytes } = await measured(
      () => chunked(repeated('[0', ',1'.repeat(30_000))),
      'external_references',
    )
    expect(messages.flatMap(({ trace }) => trace?.error?.message ?? []).join()).toContain(NO_END)
    expect(peakMegabytes).toBeLessThan(300)
  })
})

describe('a page that is large, and right', () => {
  it('of 300 MB is read within 150 MB', async () => {
    const row = `${JSON.stringify({ ...rowOf(1), text: 'y'.repeat(200) })},`
    const some = row.repeat(200)
    const times = Math.ceil(300e6 / some.length)
    const result = await measured(
      (asked) =>
        asked.target.includes('deltaToken')
          ? page([], { deltaLink: `${PREFIX}/delta/departments?deltaToken=second-token` })
          : chunked(
              repeated(
                '{"value":[',
                some,
                times,
                `{"id":2}],"deltaLink":"${PREFIX}/delta/departments?deltaToken=first-token"}`,
              ),
            ),
      'departments',
    )
    expect(result.messages.flatMap(({ trace }) => trace?.error?.message ?? [])).toEqual([])
    expect(result.records).toBe(times * 200 + 1)
    expect(result.bytes).toBeGreaterThan(300e6)
    expect(result.peakMegabytes).toBeLessThan(150)
  })

  it('with a record of 60 MB is read', async () => {
    const result = await measured(() =>
      chunked(repeated('{"value":[{"id":1,"x":"', LETTERS, 915, '"}]}')),
    )
    expect(result.messages.flatMap(({ trace }) => trace?.error?.message ?? [])).toEqual([])
    expect(result.records).toBe(1)
  })
})

describe('a body in crumbs', () => {
  // 10,000 chunks of one byte; each becomes a buffer of its own.
  const crumbs = Buffer.from('1\r\n \r\n'.repeat(10_000))
  const inCrumbs = (start: string, times: number) => async (socket: Socket) => {
    socket.write(head(200, { 'transfer-encoding': 'chunked' }))
    socket.write(`${start.length.toString(16)}\r\n${start}\r\n`)
    for (let i = 0; i < times; i++) {
      if (!socket.write(crumbs)) await new Promise((resolve) => socket.once('drain', resolve))
    }
    socket.write('2\r\n]}\r\n0\r\n\r\n')
  }

  it.each([
    ['of a small page', 400],
    ['of a large page', 900],
  ])('%s costs no memory', async (_name, times) => {
    const result = await measured(() => inCrumbs('{"value":[', times))
    expect(result.messages.flatMap(({ trace }) => trace?.error?.message ?? [])).toEqual([])
    expect(result.peakMegabytes).toBeLessThan(150)
  })
})

describe('an answer that drips', () => {
  const patience = { ...shortPatience(), bodyMs: 150 }
  const drip = (start: string | Buffer) => async (socket: Socket) => {
    socket.write(Buffer.concat([head(200, { 'content-length': 1e9 }), Buffer.from(start)]))
    while (!socket.destroyed) {
      socket.write(' ')
      await sleep(20)
    }
  }
  const rows: (readonly [name: string, wire: Wire, failure: FailureType, words: string])[] = [
    ['from its beginning', drip('{'), 'transient', 'too slowly to ever end'],
    [
      'within a large page',
      drip(`{"value":[${' '.repeat(5e6)}`),
      'transient',
      'too slowly to ever end',
    ],
  ]
  it.each(rows)('%s', async (_name, wire, failure, words) => {
    const outcome = await play({ ...secondPage(() => wire), patience })
    expectFailure(outcome, failure, words)
    expectStoppedBeforeSecondPage(outcome)
    expectNoLeak(outcome)
  })

  it('of a token', async () => {
    const outcome = await play({
      api: () => () => page([]),
      token: () => () => drip('{'),
      patience,
    })
    expectFailure(outcome, 'transient', 'too slowly to ever end')
  })

  it('of an error costs two seconds, and its status is told all the same', async () => {
    const outcome = await play(
      secondPage(() => async (socket) => {
        socket.write(head('405 X', { 'content-length': 1e9 }))
        await drip('No')(socket)
      }),
    )
    expectFailure(outcome, 'config', 'does not offer this')
  })

  it('of an error without an end costs no memory', async () => {
    const outcome = await play(
      secondPage(() => (socket) => {
        socket.write(head(405, { 'content-length': 1e9 }))
        return endless(socket)
      }),
    )
    expectFailure(outcome, 'config', 'does not offer this')
  })
})

async function endless(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    socket.write(LETTERS)
    await sleep(1)
  }
}
