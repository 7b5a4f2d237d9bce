import { expect, it } from 'vitest'
import { decide, isRateLimit, type Result, type Situation, type Step } from './retry-decision.ts'
import { retryPolicyOf } from './retry-policy.ts'

const PATIENCE = { ...retryPolicyOf(10), random: () => 0.5 }
const FIRST: Situation = {
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

const rows: (readonly [result: Result, situation: Partial<Situation>, step: Step])[] = [
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
  [{ status: 307, location: '/x' }, post, { do: 'redirect', location: '/x' }],
  [{ status: 304, location: '/x' }, {}, FAIL],
  [{ status: 401 }, {}, { do: 'renew' }],
  [{ status: 401 }, late, { do: 'renew' }],
  [{ status: 401 }, post, { do: 'renew' }],
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
  [{ status: 503, retryAfterMs: 7000 }, post, { do: 'wait', ms: 7000 }],
  [{ status: 429 }, post, WAIT],
  [{ status: 501 }, {}, FAIL],
  [{ status: 503, retryAfterMs: 7000 }, {}, { do: 'wait', ms: 7000 }],
  [{ status: 429, retryAfterMs: 0 }, {}, WAIT],
  [{ status: 429 }, late, FAIL],
  [{ status: 429, retryAfterMs: 600_001 }, {}, { do: 'fail', tooLongMs: 600_001 }],
  [{ status: 429, retryAfterMs: 60_000 }, late, FAIL],
]

it.each(rows)('after %j, %j: %j', (result, situation, step) => {
  expect(decide(result, { ...FIRST, ...situation }, PATIENCE)).toEqual(step)
})

it('never asks again when retry_minutes is 0, but for a token', () => {
  const results: Result[] = [
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
