import { describe, expect, it } from 'vitest'
import type { FailureType } from '../ground/errors.ts'
import { isSuccess, meaningOf, type StatusKind, statusIs } from './status.ts'

const STATUSES = Array.from({ length: 500 }, (_, i) => 100 + i)

describe('a failure', () => {
  // spec: Errors: 400 filter
  // spec: Errors: 403
  // spec: Errors: 414
  it.each<[number, FailureType, string, RegExp]>([
    [204, 'system', 'unexpected-status', /unexpected status$/],
    [302, 'system', 'unexpected-status', /unexpected status$/],
    [400, 'config', 'request-not-accepted', /does not accept the request$/],
    [401, 'config', 'token-not-accepted', /does not accept the access token, not even a new one/],
    [403, 'config', 'no-access', /The client has no access$/],
    [404, 'config', 'not-offered', /does not offer this to your tenant or API$/],
    [405, 'config', 'not-offered', /does not offer this to your tenant or API$/],
    [407, 'config', 'proxy-password', /put it into HTTPS_PROXY/],
    [408, 'transient', 'service-fails', /unexpected status$/],
    [409, 'transient', 'conflict', /reports a conflict$/],
    [410, 'system', 'link-expired', /The link has expired$/],
    [412, 'transient', 'changed-meanwhile', /was changed in the meantime$/],
    [413, 'system', 'unexpected-status', /unexpected status$/],
    [414, 'config', 'url-too-long', /too long; request fewer external references$/],
    [418, 'system', 'unexpected-status', /unexpected status$/],
    [422, 'system', 'unexpected-status', /unexpected status$/],
    [425, 'transient', 'service-fails', /unexpected status$/],
    [429, 'transient', 'too-many-requests', /^Too many requests$/],
    [500, 'transient', 'service-fails', /The service failed$/],
    [501, 'system', 'unexpected-status', /The service failed$/],
    [502, 'transient', 'service-fails', /The service failed$/],
    [503, 'transient', 'service-fails', /The service failed$/],
    [504, 'transient', 'service-fails', /The service failed$/],
    [599, 'transient', 'service-fails', /The service failed$/],
    [600, 'system', 'unexpected-status', /unexpected status$/],
  ])(
    'of %d has to be mended by config, time or the system: %s, %s',
    (status, failure, id, words) => {
      expect(meaningOf(status)).toMatchObject({ failure, id, words: expect.stringMatching(words) })
    },
  )

  it.each([
    [403, /no access to this record$/],
    [404, /^There is no such record/],
    [414, /use a shorter name or value$/],
  ])('of %d has other words for a record', (status, words) => {
    expect(meaningOf(status).wordsOfRecord).toMatch(words)
  })

  it.each([301, 302, 303, 307, 308, 413, 418, 422])(
    'of %d, which nobody expects, says whom to tell',
    (status) => {
      expect(meaningOf(status).advice).toMatch(/^ Check the address and any proxies/)
    },
  )
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
  ['uncertain', [202, 408]],
] as const)('a status means %j: %j, and every failure of the service but 501', (kind, expected) => {
  const failures = STATUSES.filter((status) => status >= 500 && status !== 501)
  expect(STATUSES.filter((status) => statusIs(status, kind))).toEqual([...expected, ...failures])
})

it('a missing answer has no meaning', () => {
  expect(statusIs(undefined, 'retryable')).toBe(false)
})

it.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('%d is a success: %s', (status, expected) => {
  expect(isSuccess(status)).toBe(expected)
})
