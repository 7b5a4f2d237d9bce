import { describe, expect, it } from 'vitest'
import { shortRetryPolicy } from '../../src/http/testing/short-retry-policy.ts'
import { expectFailure, expectNoLeak, expectStoppedBeforeSecondPage } from './expectations.ts'
import { LIST, runScenario, SECOND, STREAM, secondPage, token } from './scenario.ts'
import { page, reply, rowOf } from './wire.ts'

const HOUR = new Date(Date.now() + 3_600_000).toUTCString()

describe('a wait that is longer than the patience', () => {
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
    expectFailure(recording, 'transient', 'longer than a request is tried again for')
    expectStoppedBeforeSecondPage(recording)
    // It was not waited for: the page was asked for once, and an hour is longer than this test.
    expect(recording.service.requests.filter(({ target }) => target === SECOND)).toHaveLength(1)
  })
})

describe('a Retry-After without sense', () => {
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
  it('says so each minute, as a status and in the log, until its patience ends', async () => {
    const recording = await runScenario({
      ...secondPage(() => reply(503, '')),
      retryPolicy: shortRetryPolicy(150),
    })
    expectFailure(recording, 'transient', 'The service fails (503')
    const statuses = recording.messages.flatMap(({ trace }) => trace?.stream_status?.status ?? [])
    expect(statuses).toEqual(['STARTED', 'RUNNING', 'RUNNING', 'RUNNING', 'INCOMPLETE'])
    expect(recording.logs.filter((line) => line.includes('still waiting'))).toEqual(
      Array(2).fill(
        expect.stringMatching(`^WARN ${STREAM}: still waiting for the service. The service fails`),
      ),
    )
  })

  it('for its token says so as well', async () => {
    const recording = await runScenario({
      api: () => () => page([]),
      token: () => () => reply(503, ''),
      retryPolicy: shortRetryPolicy(90),
    })
    expect(recording.logs.filter((line) => line.includes('still waiting'))).toEqual([
      expect.stringMatching('^WARN The sync: still waiting for the service. The service fails'),
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

  it('that stays is an error that says so', async () => {
    const recording = await runScenario({
      api: () => () => reply(409, '{"message":"Because of rain"}'),
    })
    expectFailure(recording, 'transient', /conflict each of the 4 times.*Because of rain/)
    expect(recording.service.requests.filter(({ target }) => target === LIST)).toHaveLength(4)
  })
})

describe('a request to wait', () => {
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
    expectFailure(recording, 'transient', 'longer than a request is tried again for')
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
