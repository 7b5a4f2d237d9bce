import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/http/client.ts'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import { createPages } from '../../src/sync/pages.ts'
import { endlessBodies, endlessReferences, inCrumbs, LETTERS, NO_END } from './endless-bodies.ts'
import {
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  type FailureType,
} from './judge.ts'
import { type Answers, startRawService, type Wire } from './raw-service.ts'
import { type Counted, readCounted } from './read-counted.ts'
import { configOf, PREFIX, play, STREAM, secondPage, token } from './scenario.ts'
import { chunked, head, page, repeated, rowOf } from './wire.ts'

async function counted(api: Answers, stream = STREAM): Promise<Counted> {
  const service = await startRawService((asked, nth) =>
    asked.target.includes('/connect/token') ? token() : api(asked, nth),
  )
  try {
    // Two processes that share a busy machine may be silent to each other for a second.
    const config = { ...configOf(service.url), request_timeout_seconds: 60 }
    return await readCounted(config, stream)
  } finally {
    await service.close()
  }
}

describe('a body without an end', () => {
  it.each(endlessBodies)('$name is given up', async ({ wire, words }) => {
    const outcome = await play({ api: () => wire })
    expectFailure(outcome, 'system', words)
    expect(outcome.states(STREAM)).toEqual([])
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
      patience: shortRetryPolicy(),
      waits: { rateLimited() {}, waiting() {} },
    })
    const handler = { batch: () => undefined, broken() {}, end: () => undefined }
    await expect(pages.follow('/first', 'start', handler)).rejects.toThrow(NO_END)
    expect(sent).toBe(4 * 1024 ** 3 + part.length)
  })

  it('of references, which are parsed whole, is given up at 64 MiB', async () => {
    const { errors } = await play({
      api: () => endlessReferences.wire,
      stream: 'external_references',
    })
    expect(errors.map(({ message }) => message).join()).toContain(endlessReferences.words)
  })
})

describe('a page that is large, and right', () => {
  it('of 300 MB is read', async () => {
    const row = `${JSON.stringify({ ...rowOf(1), text: 'y'.repeat(200) })},`
    const some = row.repeat(200)
    const times = Math.ceil(300e6 / some.length)
    const result = await counted(
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
  })

  it('with a record of 60 MB is read', async () => {
    const result = await counted(() =>
      chunked(repeated('{"value":[{"id":1,"x":"', LETTERS, 915, '"}]}')),
    )
    expect(result.messages.flatMap(({ trace }) => trace?.error?.message ?? [])).toEqual([])
    expect(result.records).toBe(1)
  })
})

describe('a body in crumbs', () => {
  it.each([
    ['of a small page', 4_000_000],
    ['of a large page', 9_000_000],
  ])('%s is read', async (_name, bytes) => {
    const outcome = await play({ api: () => () => inCrumbs(bytes) })
    expect([outcome.errors, outcome.exitCode]).toEqual([[], 0])
  })
})

describe('an answer that drips', () => {
  const patience = { ...shortRetryPolicy(), bodyMs: 150 }
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
