import { expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { DeadLinkError } from '../pages/page-failures.ts'
import { type Changes, INITIAL, LIST, type Position } from './position.ts'
import {
  conflictOn,
  failureOfRestart,
  isExtra,
  refusedDelta,
  withoutDeltaLink,
} from './stream-failures.ts'

const CHANGES: Changes = {
  phase: 'changes',
  delta: { url: '/delta/people', at: null },
  requested: true,
  maybeConsumed: false,
  window: null,
  historyAt: null,
}
const COMPLETE: Position = { phase: 'complete', next: CHANGES }
const dead = new DeadLinkError('expired', 'HTTP 410.')
const refusal = (isRepeat = false) => new HttpError('transient', 409, 'HTTP 409.', { isRepeat })

it.each<[string, Position, HttpError, string]>([
  ['the first request of changes', CHANGES, refusal(), 'another consumer'],
  ['a request that was repeated', CHANGES, refusal(true), 'used up'],
  [
    'changes that an earlier sync may have requested',
    { ...CHANGES, maybeConsumed: true },
    refusal(),
    'used up',
  ],
  ['the start of a delta', INITIAL, refusal(), 'another consumer'],
  [
    'a start that an earlier sync may have requested',
    { ...INITIAL, maybeConsumed: true },
    refusal(true),
    'another consumer',
  ],
])('a conflict on %s means: %#', (_, position, conflict, expected) => {
  const failure = conflictOn(conflict, position)
  if (expected === 'used up') expect(failure).toEqual(new DeadLinkError('used', 'HTTP 409.'))
  else
    expect(failure).toMatchObject({
      failure: 'transient',
      id: 'another-consumer',
      cause: conflict,
      message: expect.stringMatching(/^Another consumer seems to read .* HTTP 409\.$/),
    })
})

it('a delta that was offered before and is refused now is requested again later', () => {
  const refused = new HttpError('config', 404, 'HTTP 404.')
  expect(refusedDelta(refused)).toMatchObject({
    failure: 'transient',
    id: 'delta-refused',
    cause: refused,
    message: expect.stringMatching(/^The service refused the delta .* HTTP 404\.$/),
  })
})

it('a delta without a link to its changes starts over if its own link is a stored one', () => {
  const what = 'The service responded to a delta without a link to its changes.'
  expect(withoutDeltaLink(true)).toEqual(new DeadLinkError('unusable', what))
  expect(withoutDeltaLink(false)).toMatchObject({
    failure: 'system',
    id: 'no-delta-link',
    message: expect.stringContaining(`${what} Nothing is lost`),
  })
})

it.each<[string, unknown, Position, boolean]>([
  ['a dead link beside a delta that works', dead, COMPLETE, true],
  ['a refusal beside a delta that works', refusal(), COMPLETE, true],
  ['a refusal before a delta is followed', refusal(), CHANGES, true],
  ['a refusal before a delta begins', refusal(), INITIAL, true],
  ['a dead link of a list', dead, LIST, false],
  ['a refusal of a list', refusal(), LIST, false],
  ['a refusal after a list', refusal(), { phase: 'complete', next: 'list' }, false],
  [
    'a state that is not valid',
    new ConnectorError('system', 'state-not-valid', 'x'),
    COMPLETE,
    false,
  ],
  ['a wrong call', new ConnectorError('system', 'library-misused', 'x'), COMPLETE, false],
  ['a fault of the program', new TypeError('x'), COMPLETE, false],
])('%s concerns only extra work: %#', (_, error, position, expected) => {
  expect(isExtra(error, position)).toBe(expected)
})

const ATTEMPT = { mode: 'incremental', refresh: null, isTracked: true, pages: 3, best: 2 } as const

it.each<[string, Partial<Parameters<typeof failureOfRestart>[1]>, string | undefined]>([
  ['that reads more pages than before', {}, undefined],
  ['that reads no page, if it is the first', { pages: 0, best: -1 }, undefined],
  ['that reads as many pages as before', { pages: 2 }, 'links-die'],
  ['that reads fewer pages than before', { pages: 1 }, 'links-die'],
  ['whose ids are too many', { isTracked: false }, undefined],
  ['of a full refresh', { mode: 'full_refresh' }, undefined],
  [
    'of a full refresh whose ids are too many',
    { mode: 'full_refresh', isTracked: false },
    'refresh-not-repeated',
  ],
])('a read %s starts over after a dead link, or fails: %#', (_, more, id) => {
  expect(failureOfRestart(dead, { ...ATTEMPT, ...more })?.id).toBe(id)
})

it.each([
  [null, /sent twice\. The next sync starts it from the beginning\./],
  [5, /sent twice\. Further attempts of this job fail as well/],
])(
  'a full refresh with the number %j that cannot start over says when it does',
  (refresh, text) => {
    const attempt = { ...ATTEMPT, mode: 'full_refresh', isTracked: false, refresh } as const
    expect(failureOfRestart(dead, attempt)).toMatchObject({
      failure: 'transient',
      cause: dead,
      message: expect.stringMatching(text),
    })
  },
)

it('a read whose links die says so', () => {
  expect(failureOfRestart(dead, { ...ATTEMPT, pages: 2 })).toMatchObject({
    failure: 'transient',
    cause: dead,
    message: expect.stringMatching(/^The service's links expire before .* HTTP 410\.$/),
  })
})
