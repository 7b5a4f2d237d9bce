import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { type AttemptHistory, decide, type RetryPolicy, retryPolicyOf, type Step } from './retry.ts'
import { meaningOf, type StatusKind, statusIs } from './status.ts'

const STATUSES = Array.from({ length: 500 }, (_, i) => 100 + i)
const MINUTE = 60_000

/** What becomes of a GET that is answered by a status each time: its steps, and how long it waited. */
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

/** What each phrase in the table of docs/service.md means, as checks. */
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
  'a few attempts, then sections 4 and 5': (status) => {
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

/** Waits for all of retry_minutes, and no longer; a Retry-After is honoured if it ends within them. */
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

  it('is a row for each that the service documents', () => {
    expect(documented.map(({ status }) => status)).toEqual([
      400, 401, 403, 404, 405, 409, 410, 414, 429, 500, 503,
    ])
  })
})

const kinds: readonly (readonly [StatusKind, readonly number[]])[] = [
  ['rate limit', [429]],
  ['rate limit with Retry-After', [503]],
  ['gateway', [502, 504]],
  ['redirect of GET', [301, 302, 303, 307, 308]],
  ['redirect', [307, 308]],
  ['expired token', [401]],
  ['permission', [401, 403]],
  ['no access', [403]],
  ['bad request', [400]],
  ['nothing done', [400, 401, 403, 404, 405, 414, 429]],
  ['missing', [404]],
  ['not offered', [404, 405]],
  ['unknown', [400, 404]],
  ['conflict', [409]],
  ['expired', [409, 410]],
  ['dead link', [400, 404, 409, 410]],
  ['outdated', [409, 412]],
  ['linked', [400, 409]],
  ['of record', [400, 403, 404, 409, 412, 413, 414, 422]],
  ['of object', [401, 405]],
]

it.each(kinds)('a status means %j: %j', (kind, expected) => {
  expect(STATUSES.filter((status) => statusIs(status, kind))).toEqual(expected)
})

it.each([
  ['retryable', [408, 425, 429]],
  ['uncertain', [408]],
] as const)('a status means %j: %j, and every failure of the service but 501', (kind, expected) => {
  const failures = STATUSES.filter((status) => status >= 500 && status !== 501)
  expect(STATUSES.filter((status) => statusIs(status, kind))).toEqual([...expected, ...failures])
})

it('no answer has no meaning', () => {
  expect(statusIs(undefined, 'retryable')).toBe(false)
})
