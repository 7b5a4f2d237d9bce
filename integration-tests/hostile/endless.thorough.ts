import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/http/client.ts'
import { shortRetryPolicy } from '../../src/http/testing/virtual-time.ts'
import { createPages } from '../../src/pages/pages.ts'
import {
  endlessBodies,
  endlessReferences,
  head,
  LETTERS,
  NO_END,
  page,
  reply,
  rowOf,
  type Wire,
} from './raw-service.ts'
import {
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  type FailureType,
  LIST,
  runScenario,
  SECOND,
  STREAM,
  secondPage,
  token,
} from './scenario.ts'

describe('an endless body', () => {
  it.each(endlessBodies)('$name is abandoned', async ({ wire, words }) => {
    const recording = await runScenario({ api: () => wire })
    expectFailure(recording, 'system', words)
    // The one of the beginning: nothing of the body counts as read.
    expect(recording.states(STREAM)).toEqual([
      expect.objectContaining({ link: null, rows_so_far: 0 }),
    ])
  })

  it('of records is abandoned at 4 GiB', async () => {
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
      retryPolicy: shortRetryPolicy(),
      waits: { rateLimited() {}, waiting() {} },
      requests: { count: 0 },
    })
    const readAll = async () => {
      for await (const event of pages.read('/first', 'start')) expect(event.type).toBe('records')
    }
    await expect(readAll()).rejects.toThrow(NO_END)
    expect(sent).toBe(4 * 1024 ** 3 + part.length)
  })

  it('of references, which are parsed as a whole, is abandoned at 8 MiB', async () => {
    const { errors } = await runScenario({
      api: () => endlessReferences.wire,
      stream: 'external_references',
    })
    expect(errors.map(({ message }) => message).join()).toContain(endlessReferences.words)
  })
})

describe('a page of references that needs far more memory than its size', () => {
  it('is refused before it is parsed', async () => {
    const { errors } = await runScenario({
      api: () => () => reply(200, `[{}${',{}'.repeat(200_000)}]`),
      stream: 'external_references',
    })
    expect(errors.map(({ message }) => message).join()).toContain(
      'it has more than 150000 objects and lists',
    )
  })
})

describe('an answer that arrives too slowly', () => {
  const retryPolicy = { ...shortRetryPolicy(), bodyMs: 150 }
  const drip = (start: string | Buffer) => async (socket: Socket) => {
    socket.write(Buffer.concat([head(200, { 'content-length': 1e9 }), Buffer.from(start)]))
    while (!socket.destroyed) {
      socket.write(' ')
      await sleep(20)
    }
  }
  const rows: (readonly [name: string, wire: Wire, failure: FailureType, words: string])[] = [
    ['from its beginning', drip('{'), 'transient', 'too slowly to complete it'],
    [
      'within a large page',
      drip(`{"value":[${' '.repeat(5e6)}`),
      'transient',
      'too slowly to complete it',
    ],
  ]
  it.each(rows)('%s', async (_name, wire, failure, words) => {
    const recording = await runScenario({ ...secondPage(() => wire), retryPolicy })
    expectFailure(recording, failure, words)
    expectStoppedBeforeSecondPage(recording)
    expectNoLeak(recording)
  })

  it('of a token', async () => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: () => () => drip('{'),
      retryPolicy,
    })
    expectFailure(recording, 'transient', 'too slowly to complete it')
  })

  // Each block is valid and decompresses to nothing, so bytes keep coming and no part of a body does.
  const compressedNothing = (status: string) => async (socket: Socket) => {
    const start = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
    socket.write(head(status, { 'content-length': 1e9, 'content-encoding': 'gzip' }))
    socket.write(start)
    while (!socket.destroyed) {
      socket.write(Buffer.from([0, 0, 0, 0xff, 0xff]))
      await sleep(20)
    }
  }

  it('of compressed bytes that are nothing', async () => {
    const wire = compressedNothing('200 X')
    const recording = await runScenario({ ...secondPage(() => wire), retryPolicy })
    expectFailure(recording, 'transient', 'too slowly to complete it')
    expectStoppedBeforeSecondPage(recording)
  })

  it('of compressed bytes that are nothing, as an error', async () => {
    const recording = await runScenario(secondPage(() => compressedNothing('405 X')))
    expectFailure(recording, 'config', 'does not offer this')
  })

  it('within a large page of references', async () => {
    const wire = drip(`[${' '.repeat(5e6)}`)
    const stream = 'external_references'
    const { errors } = await runScenario({ api: () => () => wire, stream, retryPolicy })
    expect(errors.map(({ message }) => message).join()).toContain('too slowly to complete it')
  })

  it('of a check', async () => {
    const wire = drip(' ')
    const recording = await runScenario({ api: () => () => wire, command: 'check', retryPolicy })
    const texts = recording.messages.map((message) => JSON.stringify(message))
    expect(texts.filter((text) => text.includes('too slowly to complete it'))).not.toEqual([])
  })

  it('of an error takes two seconds, and its status is reported nevertheless', async () => {
    const recording = await runScenario(
      secondPage(() => async (socket) => {
        socket.write(head('405 X', { 'content-length': 1e9 }))
        await drip('No')(socket)
      }),
    )
    expectFailure(recording, 'config', 'does not offer this')
  })

  it('of an endless error needs no memory', async () => {
    const recording = await runScenario(
      secondPage(() => (socket) => {
        socket.write(head(405, { 'content-length': 1e9 }))
        return endless(socket)
      }),
    )
    expectFailure(recording, 'config', 'does not offer this')
  })
})

async function endless(socket: Socket): Promise<void> {
  while (!socket.destroyed) {
    socket.write(LETTERS)
    await sleep(1)
  }
}

const HOUR = new Date(Date.now() + 3_600_000).toUTCString()

describe('a wait that is longer than retry_minutes', () => {
  it.each([
    ['429 with an hour', 429, '3600'],
    ['503 with an hour', 503, '3600'],
    ['500 with an hour', 500, '3600'],
    ['429 with a time in an hour', 429, HOUR],
    ['429 with a number beyond all time', 429, '99999999999999999999'],
    ['429 with a time in the year 9999', 429, 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ])('of %s ends the stream at once', async (_name, status, header) => {
    const recording = await runScenario(
      secondPage(() => reply(status, '', { 'retry-after': header })),
    )
    expectFailure(recording, 'transient', 'longer than retry_minutes allows')
    expectStoppedBeforeSecondPage(recording)
    // It was not waited for: the page was asked for once, and an hour is longer than this test.
    expect(recording.service.requests.filter(({ target }) => target === SECOND)).toHaveLength(1)
  })
})

describe('a senseless Retry-After', () => {
  it.each([
    '',
    'soon',
    '-5',
    '0',
    '1e3',
    '5 minutes',
    'NaN',
    'Thu, 01 Jan 1970 00:00:00 GMT',
    '0x10',
  ])('such as %j does not matter', async (header) => {
    const recording = await runScenario({
      api: () => (_asked, nth) =>
        nth === 1 ? reply(503, '', { 'retry-after': header }) : page([rowOf(1)]),
    })
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(1)
  })
})

describe('a stream that waits', () => {
  it('reports it each minute, as a status and in the log, until it gives up', async () => {
    const recording = await runScenario({
      ...secondPage(() => reply(503, '')),
      retryPolicy: shortRetryPolicy(150),
    })
    expectFailure(recording, 'transient', 'The service failed (503')
    const statuses = recording.messages.flatMap(({ trace }) => trace?.stream_status?.status ?? [])
    expect(statuses).toEqual(['STARTED', 'RUNNING', 'RUNNING', 'RUNNING', 'INCOMPLETE'])
    expect(recording.logs.filter((line) => line.includes('still waiting'))).toEqual(
      Array(2).fill(
        expect.stringMatching(`^WARN ${STREAM}: still waiting for the service. The service failed`),
      ),
    )
  })

  it('for its token reports it, too', async () => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: () => () => reply(503, ''),
      retryPolicy: shortRetryPolicy(90),
    })
    expect(recording.logs.filter((line) => line.includes('still waiting'))).toEqual([
      expect.stringMatching('^WARN The sync: still waiting for the service. The service failed'),
    ])
  })
})

describe('a conflict on a list', () => {
  it('that passes is requested again', async () => {
    const recording = await runScenario({
      api: () => (_asked, nth) => (nth < 4 ? reply(409, '') : page([rowOf(1)])),
    })
    expect(recording.errors).toEqual([])
    expect(recording.records(STREAM)).toHaveLength(1)
  })

  it('that persists is an error that says so', async () => {
    const recording = await runScenario({
      api: () => () => reply(409, '{"message":"Because of rain"}'),
    })
    expectFailure(
      recording,
      'transient',
      /conflict at each of the 4 requests for this list.*Because of rain/,
    )
    expect(recording.service.requests.filter(({ target }) => target === LIST)).toHaveLength(4)
  })
})

describe('an answer that asks to wait', () => {
  it('is shown as RATE_LIMITED with the time of its end, and RUNNING follows', async () => {
    const recording = await runScenario({
      api: () => (_asked, nth) =>
        nth === 1 ? reply(429, '', { 'retry-after': '1' }) : page([rowOf(1)]),
    })
    const statuses = recording.messages.flatMap(({ trace }) => trace?.stream_status ?? [])
    expect(statuses.map(({ status, reasons }) => [status, reasons])).toEqual([
      ['STARTED', undefined],
      ['RUNNING', [{ type: 'RATE_LIMITED', rate_limited: { quota_reset: expect.any(Number) } }]],
      ['RUNNING', undefined],
      ['COMPLETE', undefined],
    ])
    expect(recording.errors).toEqual([])
  })

  it('of the token endpoint for an hour ends the run as transient', async () => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: () => () => reply(429, '', { 'retry-after': '3600' }),
    })
    expectFailure(recording, 'transient', 'longer than retry_minutes allows')
    expectNoLeak(recording)
  })

  it('of the token endpoint for a second is followed', async () => {
    const recording = await runScenario({
      api: () => () => page([rowOf(1)]),
      token: () => (_asked, nth) => (nth === 1 ? reply(429, '', { 'retry-after': '1' }) : token()),
    })
    expect(recording.errors).toEqual([])
  })
})
