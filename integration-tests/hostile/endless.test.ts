import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/http/client.ts'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import { createPages } from '../../src/sync/pages.ts'
import { endlessBodies, endlessReferences, LETTERS, NO_END } from './endless-bodies.ts'
import {
  expectFailure,
  expectNoLeak,
  expectStoppedBeforeSecondPage,
  type FailureType,
} from './expectations.ts'
import type { Wire } from './raw-service.ts'
import { runScenario, STREAM, secondPage } from './scenario.ts'
import { head, page } from './wire.ts'

describe('a body without an end', () => {
  it.each(endlessBodies)('$name is given up', async ({ wire, words }) => {
    const recording = await runScenario({ api: () => wire })
    expectFailure(recording, 'system', words)
    expect(recording.states(STREAM)).toEqual([])
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
      retryPolicy: shortRetryPolicy(),
      waits: { rateLimited() {}, waiting() {} },
    })
    const readAll = async () => {
      for await (const event of pages.read('/first', 'start')) expect(event.type).toBe('records')
    }
    await expect(readAll()).rejects.toThrow(NO_END)
    expect(sent).toBe(4 * 1024 ** 3 + part.length)
  })

  it('of references, which are parsed whole, is given up at 64 MiB', async () => {
    const { errors } = await runScenario({
      api: () => endlessReferences.wire,
      stream: 'external_references',
    })
    expect(errors.map(({ message }) => message).join()).toContain(endlessReferences.words)
  })
})

describe('an answer that drips', () => {
  const retryPolicy = { ...shortRetryPolicy(), bodyMs: 150 }
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
    expectFailure(recording, 'transient', 'too slowly to ever end')
  })

  it('of an error costs two seconds, and its status is told all the same', async () => {
    const recording = await runScenario(
      secondPage(() => async (socket) => {
        socket.write(head('405 X', { 'content-length': 1e9 }))
        await drip('No')(socket)
      }),
    )
    expectFailure(recording, 'config', 'does not offer this')
  })

  it('of an error without an end costs no memory', async () => {
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
