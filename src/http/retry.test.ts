import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Time } from './clock.ts'
import {
  type AttemptHistory,
  type AttemptResult,
  createFailureCount,
  decide,
  isRateLimit,
  type RetryPolicy,
  retryAfterMs,
  retryPolicyOf,
  type Step,
  tooLongToWait,
  tooSlow,
  waitMs,
} from './retry.ts'
import { meaningOf, statusIs } from './status.ts'

const NOW = new Date('2026-03-01T12:00:00Z')

describe('Retry-After', () => {
  it.each([
    ['60', 60_000],
    [' 60 ', 60_000],
    ['1.5', 1500],
    ['1.25', 1250],
    ['0', 0],
    ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
    ['9'.repeat(400), 1e12],
    ['2026-03-01T12:00:30Z', 30_000],
    ['Sun, 01 Mar 2026 11:59:00 GMT', 0],
  ])('%j asks to wait %d ms', (header, expected) => {
    expect(retryAfterMs(header, NOW)).toBe(expected)
  })

  it.each([
    undefined,
    '',
    ' ',
    '-5',
    'soon',
    'soon 5',
    '1e3',
    '0x10',
    '60 seconds',
    '60, 90',
    '12:00:00 o clock',
  ])('%j says nothing', (header) => {
    expect(retryAfterMs(header, NOW)).toBeUndefined()
  })
})

describe('the wait before the next attempt', () => {
  const retryPolicy = { ...retryPolicyOf(10), random: () => 0.5 }
  const failed = (before: number, sinceMs = 0) => ({ before, sinceMs })

  it('is random, up to a limit that doubles up to a minute', () => {
    fc.assert(
      fc.property(
        fc.nat(60),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (before, random) => {
          const wait = waitMs(failed(before), { ...retryPolicy, random: () => random })
          expect(wait).toBeGreaterThanOrEqual(0)
          expect(wait).toBeLessThan(Math.min(60_000, 500 * 2 ** before))
        },
      ),
    )
  })

  it.each([
    [0, 250],
    [1, 500],
    [4, 4000],
    [20, 30_000],
  ])('after %d failures before this one is %d ms on average', (before, expected) => {
    expect(waitMs(failed(before), retryPolicy)).toBe(expected)
  })

  it('is shortened so that the last attempt is made when the time is over', () => {
    expect(waitMs(failed(20, 595_000), retryPolicy)).toBe(5000)
  })

  it('is none after that', () => {
    expect(waitMs(failed(20, 600_000), retryPolicy)).toBeUndefined()
  })

  it('is what the service asks for, as long as there is time for it', () => {
    expect([
      waitMs(failed(0), retryPolicy, 600_000),
      waitMs(failed(1, 1), retryPolicy, 600_000),
      waitMs(failed(1, 1), retryPolicy, 0),
      waitMs(failed(1, 1), retryPolicy, 999),
    ]).toEqual([600_000, undefined, 500, 500])
  })

  it('is none if retry_minutes is 0', () => {
    expect([waitMs(failed(0), retryPolicyOf(0)), waitMs(failed(0), retryPolicyOf(0), 1)]).toEqual([
      undefined,
      undefined,
    ])
  })

  it('ends earlier for a command that must answer soon', () => {
    expect([retryPolicyOf(10, 15_000).forMs, retryPolicyOf(0.1, 15_000).forMs]).toEqual([
      15_000, 6000,
    ])
  })

  it('after a conflict is of three lengths, or none if retry_minutes is 0', () => {
    expect([0.1, 0].map((minutes) => retryPolicyOf(minutes).conflictMs)).toEqual([
      [1000, 2000, 4000],
      [],
    ])
  })

  it.each([
    [3_600_000, '60 minutes'],
    [50_000, '1 minute'],
  ])('of %d ms is an error of its own if it is too long: %s', (ms, words) => {
    expect(tooLongToWait(ms)).toMatchObject({
      failure: 'transient',
      id: 'retry-after-too-long',
      message: expect.stringContaining(`requires a wait of ${words} (Retry-After), which`),
      retryAfterMs: ms,
    })
  })
})

it('a body that is too slow is an error after which the next sync continues', () => {
  expect(tooSlow()).toMatchObject({
    failure: 'transient',
    id: 'response-too-slow',
    message: expect.stringContaining('The next sync continues here.'),
  })
})

it('failures are counted from the first one on, until they are forgotten', () => {
  let now = 5000
  const count = createFailureCount({ now: () => now } as Time)
  const seen = [count.now()]
  for (const ms of [1000, 500]) {
    count.add()
    now += ms
    seen.push(count.now())
  }
  count.forget()
  expect([...seen, count.now()]).toEqual([
    { before: 0, sinceMs: 0 },
    { before: 1, sinceMs: 1000 },
    { before: 2, sinceMs: 1500 },
    { before: 0, sinceMs: 0 },
  ])
})

const POLICY = { ...retryPolicyOf(10), random: () => 0.5 }
const FIRST: AttemptHistory = {
  failures: { before: 0, sinceMs: 0 },
  redirects: 0,
  renewals: 0,
  token: 'wide',
  method: 'GET',
}
const FAIL: Step = { do: 'fail' }
const WAIT: Step = { do: 'wait', ms: 250 }
const narrow = { token: 'narrow' } as const
const forToken = { token: 'none', method: 'POST' } as const
const post = { method: 'POST' } as const
const put = { method: 'PUT' } as const
const late = { failures: { before: 30, sinceMs: 600_000 } }

const rows: (readonly [result: AttemptResult, situation: Partial<AttemptHistory>, step: Step])[] = [
  [{ failure: 'transient' }, {}, WAIT],
  [{ failure: 'transient' }, forToken, WAIT],
  [{ failure: 'transient' }, late, FAIL],
  [{ failure: 'transient' }, put, WAIT],
  [{ failure: 'transient' }, { method: 'DELETE' }, WAIT],
  [{ failure: 'transient' }, post, FAIL],
  [{ failure: 'transient', isUnsent: true }, post, WAIT],
  [{ failure: 'config' }, {}, FAIL],
  [{ failure: 'system' }, {}, FAIL],
  [{ status: 302, location: '/x' }, {}, { do: 'redirect', location: '/x' }],
  [{ status: 302, location: '/x' }, { redirects: 3 }, FAIL],
  [{ status: 302, location: '/x' }, forToken, FAIL],
  [{ status: 302 }, {}, FAIL],
  [{ status: 302, location: '/x' }, put, FAIL],
  [{ status: 308, location: '/x' }, put, { do: 'redirect', location: '/x' }],
  [{ status: 307, location: '/x' }, post, FAIL],
  [{ status: 304, location: '/x' }, {}, FAIL],
  [{ status: 401 }, {}, { do: 'renew' }],
  [{ status: 401 }, late, { do: 'renew' }],
  [{ status: 401 }, post, { do: 'renew' }],
  [{ status: 401 }, { ...post, renewals: 1 }, FAIL],
  [{ status: 401 }, { ...post, ...narrow, renewals: 1 }, FAIL],
  [{ status: 403 }, { ...post, ...narrow }, FAIL],
  [{ status: 401 }, { renewals: 1 }, FAIL],
  [{ status: 401 }, { renewals: 1, ...narrow }, { do: 'unscoped' }],
  [{ status: 401 }, { renewals: 2, ...narrow }, FAIL],
  [{ status: 401 }, forToken, FAIL],
  [{ status: 403 }, {}, FAIL],
  [{ status: 403 }, narrow, { do: 'unscoped' }],
  [{ status: 403 }, { renewals: 2, ...narrow }, FAIL],
  [{ status: 404 }, {}, FAIL],
  [{ status: 409 }, {}, FAIL],
  [{ status: 500 }, {}, WAIT],
  [{ status: 500 }, forToken, WAIT],
  [{ status: 500 }, put, WAIT],
  [{ status: 500 }, post, FAIL],
  [{ status: 408 }, post, FAIL],
  [{ status: 503 }, post, FAIL],
  // It may have been carried out: only a 429 says that it was not.
  [{ status: 503, retryAfterMs: 7000 }, post, FAIL],
  [{ status: 503, retryAfterMs: 7000 }, forToken, { do: 'wait', ms: 7000 }],
  [{ status: 429 }, post, WAIT],
  [{ status: 501 }, {}, FAIL],
  [{ status: 503, retryAfterMs: 7000 }, {}, { do: 'wait', ms: 7000 }],
  [{ status: 429, retryAfterMs: 0 }, {}, WAIT],
  [{ status: 429 }, late, FAIL],
  [{ status: 429, retryAfterMs: 600_001 }, {}, { do: 'fail', tooLongMs: 600_001 }],
  [{ status: 429, retryAfterMs: 600_000 }, late, FAIL],
]

it.each(rows)('after %j, %j: %j', (result, situation, step) => {
  expect(decide(result, { ...FIRST, ...situation }, POLICY)).toEqual(step)
})

it('never repeats a request if retry_minutes is 0, except for a token', () => {
  const results: AttemptResult[] = [
    { failure: 'transient' },
    { status: 500 },
    { status: 429, retryAfterMs: 1000 },
    { status: 401 },
  ]
  expect(results.map((result) => decide(result, FIRST, retryPolicyOf(0)))).toEqual([
    FAIL,
    FAIL,
    FAIL,
    { do: 'renew' },
  ])
})

it.each([
  [true, { status: 429 }],
  [true, { status: 503, retryAfterMs: 0 }],
  [false, { status: 503 }],
  [false, { status: 500, retryAfterMs: 5 }],
  [false, { failure: 'transient' }],
] as const)('a rate limit is %s: %j', (expected, result) => {
  expect(isRateLimit(result)).toBe(expected)
})

const MINUTE = 60_000

/** What happens to a GET that always gets the same status: its steps, and how long it waited. */
function course(status: number, asked: { readonly retryAfterMs?: number } = {}) {
  const policy: RetryPolicy = { ...retryPolicyOf(10), random: () => 0.999 }
  const steps: Step['do'][] = []
  let [before, waitedMs, renewals] = [0, 0, 0]
  let token: AttemptHistory['token'] = 'narrow'
  for (;;) {
    const failures = { before, sinceMs: waitedMs }
    const situation: AttemptHistory = { failures, redirects: 0, renewals, token, method: 'GET' }
    const step = decide({ status, ...asked }, situation, policy)
    if (step.do !== steps.at(-1)) steps.push(step.do)
    if (step.do === 'fail') return { steps, waitedMs, failure: meaningOf(status).failure }
    if (step.do === 'wait') {
      before++
      waitedMs += step.ms
    } else renewals++
    if (step.do === 'unscoped') token = 'wide'
  }
}

const WAITS = { steps: ['wait', 'fail'], waitedMs: 10 * MINUTE, failure: 'transient' }

/** The checks for each phrase in the table of docs/service.md. */
const ROWS: Readonly<Record<string, (status: number) => void>> = {
  'config error': (status) =>
    expect(course(status)).toEqual({ steps: ['fail'], waitedMs: 0, failure: 'config' }),
  'a new token, then a token without `scope`, then config error': (status) => {
    expect(course(status)).toEqual({
      steps: ['renew', 'unscoped', 'fail'],
      waitedMs: 0,
      failure: 'config',
    })
    expect(statusIs(status, 'permission')).toBe(true)
  },
  'a token without `scope`, then config error for this stream': (status) => {
    expect(course(status)).toEqual({ steps: ['unscoped', 'fail'], waitedMs: 0, failure: 'config' })
    expect(statusIs(status, 'permission')).toBe(true)
  },
  'read it another way, or config error': (status) => {
    expect(course(status)).toEqual({ steps: ['fail'], waitedMs: 0, failure: 'config' })
    expect(statusIs(status, 'not offered')).toBe(true)
  },
  'for a delta a few attempts, then section 5; for a token section 4': (status) => {
    expect(course(status)).toEqual({ steps: ['fail'], waitedMs: 0, failure: 'transient' })
    expect([statusIs(status, 'conflict'), statusIs(status, 'dead link')]).toEqual([true, true])
  },
  'start over': (status) => {
    expect(course(status)).toEqual({ steps: ['fail'], waitedMs: 0, failure: 'system' })
    expect([statusIs(status, 'expired'), statusIs(status, 'dead link')]).toEqual([true, true])
  },
  'wait as `Retry-After` says, otherwise back off': (status) => {
    expect(statusIs(status, 'rate limit')).toBe(true)
    waitsToTheEnd(status)
  },
  'retry, honour `Retry-After`': waitsToTheEnd,
}

/** Waits for the whole of retry_minutes, and no longer; a Retry-After is respected if it ends within them. */
function waitsToTheEnd(status: number): void {
  expect(course(status)).toEqual(WAITS)
  expect(course(status, { retryAfterMs: 4 * MINUTE }).waitedMs).toBe(8 * MINUTE)
  expect(course(status, { retryAfterMs: 10 * MINUTE }).waitedMs).toBe(10 * MINUTE)
}

const documented = [
  ...(readFileSync('docs/service.md', 'utf8')
    .split('<a id="errors"></a>')[1]
    ?.split('\n## ')[0]
    ?.matchAll(/^\| ([\d, ]+) \| .* \| (.*) \| .* \|$/gm) ?? []),
].flatMap(([, statuses = '', does = '']) =>
  statuses.split(', ').map((status) => ({ status: Number(status), does })),
)

describe('what docs/service.md says about a status', () => {
  it.each(documented)('$status: $does', ({ status, does }) => {
    expect(Object.keys(ROWS)).toContain(does)
    ROWS[does]?.(status)
  })

  it('has a row for each status that the service documents', () => {
    expect(documented.map(({ status }) => status)).toEqual([
      400, 401, 403, 404, 405, 409, 410, 414, 429, 500, 503,
    ])
  })
})
