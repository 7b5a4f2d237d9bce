import { describe, expect, it } from 'vitest'
import { ConnectorError } from '../ground/errors.ts'
import { HttpError } from '../http/http-error.ts'
import { createVirtualTime } from '../http/testing/virtual-time.ts'
import {
  LastingDamageError,
  MalformedPageError,
  RecordTooLargeError,
} from '../page/page-scanner.ts'
import {
  createTries,
  DeadLinkError,
  endlessBody,
  endlessChain,
  InterruptedPageError,
  isDamaged,
  isNotOffered,
  type LinkKind,
  pageFailure,
  pageTooLarge,
  pauseAfter,
} from './page-failures.ts'

const POLICY = {
  forMs: 60_000,
  baseMs: 500,
  capMs: 60_000,
  conflictMs: [1000, 2000],
  random: () => 1,
}
const KINDS: readonly LinkKind[] = ['list', 'start', 'single', 'next', 'delta']

const status = (code: number, isRepeat = false) =>
  new HttpError('system', code, `status ${code}`, { isRepeat })
const newTries = () => createTries(createVirtualTime())

/** The wait before the page is requested again, or the error with which the read of the stream goes on. */
function outcomeOf(error: unknown, kind: LinkKind, tries = newTries()): unknown {
  try {
    return pauseAfter(error, kind, tries, POLICY)
  } catch (thrown) {
    return thrown
  }
}

/** The same for each kind of link, in words. */
function outcomes(error: unknown): Record<string, unknown> {
  return Object.fromEntries(
    KINDS.map((kind) => {
      const outcome = outcomeOf(error, kind)
      if (outcome === error) return [kind, 'as it is']
      if (outcome instanceof DeadLinkError) return [kind, `dead: ${outcome.why}`]
      return [kind, typeof outcome === 'number' ? outcome : (outcome as { id: string }).id]
    }),
  )
}

describe('a page that fails', () => {
  const asItIs = { list: 'as it is', start: 'as it is', single: 'as it is' }
  const damaged = { list: 500, start: 500, single: 'page-damaged', next: 500, delta: 500 }
  const alike = (id: string) => Object.fromEntries(KINDS.map((kind) => [kind, id]))

  it.each<[string, unknown, Record<string, unknown>]>([
    ['with damaged content', new MalformedPageError('not JSON'), damaged],
    [
      'with a record that is too large',
      new RecordTooLargeError('9 MiB'),
      alike('record-too-large'),
    ],
    ['with a key that is too long', new LastingDamageError('2 kB'), alike('page-damaged')],
    ['because its connection breaks', new InterruptedPageError('broke'), alike(500 as never)],
    ['with 400', status(400), { ...asItIs, next: 'dead: unusable', delta: 'dead: unusable' }],
    ['with 404', status(404), { ...asItIs, next: 'dead: unusable', delta: 'dead: unusable' }],
    ['with 410', status(410), { ...asItIs, next: 'dead: expired', delta: 'dead: expired' }],
    [
      'with 409',
      status(409),
      { list: 1000, start: 1000, single: 1000, next: 'dead: expired', delta: 1000 },
    ],
    ['with 403', status(403), { ...asItIs, next: 'as it is', delta: 'as it is' }],
    ['with 503', status(503), { ...asItIs, next: 'as it is', delta: 'as it is' }],
    ['by a fault of the program', new TypeError('x'), alike('as it is')],
  ])('%s is requested again, starts the stream over, or fails it', (_, error, expected) => {
    expect(outcomes(error)).toEqual(expected)
  })
})

describe('a conflict that does not go away', () => {
  it.each<[LinkKind, string]>([
    ['list', 'conflict-on-list'],
    ['start', 'conflict'],
    ['single', 'conflict'],
    ['delta', 'conflict'],
  ])('on a link of the kind %s is an error after the waits for conflicts', (kind, id) => {
    const tries = newTries()
    const all = [1, 2, 3].map(() => outcomeOf(status(409), kind, tries))
    expect(all).toEqual([1000, 2000, expect.objectContaining({ id })])
    expect(all[2]).not.toBeInstanceOf(DeadLinkError)
  })

  it('names how often a list was requested', () => {
    const tries = newTries()
    const all = [1, 2, 3].map(() => outcomeOf(status(409), 'list', tries))
    expect(all[2]).toMatchObject({ message: expect.stringContaining('each of the 3 requests') })
  })
})

describe('a page that stays damaged', () => {
  it('is requested again after longer and longer waits, until the time for retries is over', async () => {
    const time = createVirtualTime()
    const tries = createTries(time)
    const waits: number[] = []
    const read = async () => {
      for (;;) {
        const pause = pauseAfter(new MalformedPageError('x'), 'next', tries, POLICY)
        waits.push(pause)
        await time.sleep(pause, new AbortController().signal)
      }
    }
    await expect(time.run(read())).rejects.toMatchObject({ id: 'page-damaged' })
    expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 28_500])
  })
})

describe('a request that is repeated', () => {
  it.each<[string, unknown, boolean]>([
    ['after damage may have reached the service before', new MalformedPageError('x'), true],
    ['after a conflict has not', status(409), false],
    ['after a conflict of a repeated request may have', status(409, true), true],
  ])('%s', (_, error, isRepeat) => {
    const tries = newTries()
    pauseAfter(error, 'delta', tries, POLICY)
    expect(tries.isRepeat).toBe(isRepeat)
  })
})

describe('a failure for the operator', () => {
  it.each<[string, unknown, string, string, RegExp]>([
    [
      'a record that is too large, with the setting for it',
      pageFailure(new RecordTooLargeError('a record has 9 MiB')),
      'system',
      'record-too-large',
      /cannot be read: a record has 9 MiB\. .*increase max_record_mb/,
    ],
    [
      'what is damaged',
      pageFailure(new MalformedPageError('no comma at 7')),
      'system',
      'page-damaged',
      /is damaged: no comma at 7\. The page was discarded/,
    ],
    [
      'a connection that broke',
      pageFailure(new InterruptedPageError('It broke.')),
      'transient',
      'connection-broke',
      /^It broke\.$/,
    ],
    ['a page without an end', endlessBody(), 'system', 'page-without-end', /a page without an end/],
    [
      'how large a page may be that is read as a whole',
      pageTooLarge(3 * 1024 ** 2),
      'system',
      'page-too-large',
      /larger than 3 MiB/,
    ],
    [
      'a link that came before',
      endlessChain(true),
      'system',
      'links-in-a-circle',
      /that it had sent before/,
    ],
    [
      'pages without an end',
      endlessChain(false),
      'system',
      'pages-without-end',
      /page after page without an end/,
    ],
  ])('names %s', (_, error, failure, id, message) => {
    expect(error).toMatchObject({ failure, id, message: expect.stringMatching(message) })
  })

  it.each([
    new RecordTooLargeError('x'),
    new MalformedPageError('x'),
    new InterruptedPageError('x'),
  ])('has the failure of the page as its cause: %o', (error) => {
    expect(pageFailure(error)).toMatchObject({ cause: error })
  })

  it('is a conflict on a list, which the next sync asks again', () => {
    const conflict = status(409)
    const tries = { ...newTries(), conflicts: POLICY.conflictMs.length }
    expect(outcomeOf(conflict, 'list', tries)).toMatchObject({
      failure: 'transient',
      cause: conflict,
    })
  })
})

it.each<[string, unknown, boolean]>([
  ['damaged content', pageFailure(new MalformedPageError('x')), true],
  ['a record that is too large', pageFailure(new RecordTooLargeError('x')), true],
  ['a connection that broke', pageFailure(new InterruptedPageError('x')), false],
  ['damaged content that was not told yet', new MalformedPageError('x'), false],
  ['another error with this cause', new Error('x', { cause: new MalformedPageError('x') }), false],
  ['a failure without a cause', new ConnectorError('system', 'unexpected', 'x'), false],
])('a page is damaged by %s: %s', (_, error, expected) => {
  expect(isDamaged(error)).toBe(expected)
})

it.each<[string, unknown, boolean]>([
  ['404', status(404), true],
  ['405', status(405), true],
  ['400', status(400), false],
  ['403', status(403), false],
  ['a fault of the program', new TypeError('x'), false],
])('a collection does not have an operation that is answered with %s: %s', (_, error, expected) => {
  expect(isNotOffered(error)).toBe(expected)
})
