import { describe, expect, it } from 'vitest'
import { parseConfig } from '../config/config.ts'
import type { IdentifiedMessage } from '../ground/message-ids.ts'
import { createEndpoints } from '../http/endpoints.ts'
import { DeadLinkError, type DeadLinkReason } from '../pages/page-failures.ts'
import type { StreamOutput } from '../protocol/connector.ts'
import { createIdSet } from '../rows/id-set.ts'
import { createIdBudget } from '../rows/stored-keys.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import {
  continuesDelta,
  type Decision,
  decide,
  plan,
  reasonOfDeadLink,
  startOf,
  storedCharacters,
} from './plan.ts'
import { type Changes, LIST as FIRST_LIST, historyOf, INITIAL, type Position } from './position.ts'
import { FRESH, fieldDigests, KEYS, type StoredState, writeState } from './stored-state.ts'
import { identityOf, type StreamTask } from './stream-task.ts'

const NOW = new Date('2026-11-20T03:00:00Z')
const hoursAgo = (hours: number) => new Date(NOW.getTime() - hours * 3_600_000)
const settings = {
  config: parseConfig({
    tenant: 'acme',
    environment: { type: 'production' },
    client_id: 'id',
    client_secret: 'secret',
    start_date: '2025-06-01',
  }),
  endpoints: createEndpoints({
    baseUrl: 'https://acme.protime.test',
    authUrl: 'https://authentication.protime.test/tenants/acme',
    apiName: 'svcapi',
    company: undefined,
    version: '1.0.0',
  }),
  now: NOW,
}

function task(more: Partial<StreamTask> = {}): StreamTask {
  return {
    stream: streams.get('clockings') as Stream,
    mode: 'incremental',
    storedState: undefined,
    redaction: { rules: undefined, fingerprint: '' },
    fields: ['id', 'date'],
    output: {} as StreamOutput,
    requests: { count: 0 },
    ...more,
  }
}

const CHANGES: Changes = {
  phase: 'changes',
  delta: { url: '/delta/clockings?deltaToken=1', at: hoursAgo(24) },
  requested: false,
  maybeConsumed: false,
  window: '2025-06-01',
  historyAt: null,
}

const NO_IDS = KEYS.fresh
const ids = createIdSet()
for (const id of [5, 6]) ids.add(id)
const WINDOW = ids.encode() ?? ''

/** A stored state that fits the settings, but for what is given. */
function stored(more: Partial<StoredState> = {}): unknown {
  const { start, ...identity } = identityOf(task(), settings)
  const state: StoredState = {
    ...FRESH,
    ...identity,
    start,
    fields: fieldDigests(['id', 'date']),
    generation: 1_795_000_000,
    cursor: 7,
    isSettled: true,
    position: CHANGES,
    keys: { ...NO_IDS, window: WINDOW },
    ...more,
  }
  return writeState(state, state.keys)
}

const BEFORE: Position = { ...INITIAL, window: '2025-06-01' }
const LIST = { phase: 'complete', next: 'list' } as const
/** An earlier attempt of the full refresh with the generation 5, which has written rows. */
const begun = (more: Partial<StoredState> = {}) =>
  stored({
    mode: 'full_refresh',
    refresh: 5,
    rowsSoFar: 3,
    isSettled: false,
    position: LIST,
    ...more,
  })
const refreshing = (storedState: unknown) => task({ mode: 'full_refresh', refresh: 5, storedState })
/** The same attempt under other settings. */
const changed = (more: Partial<StoredState>) => refreshing(begun({ settings: 'other', ...more }))
const sectors = (position: Position) =>
  task({
    stream: streams.get('sectors') as Stream,
    storedState: stored({ start: null, position }),
  })
/** The changes behind a link of this age. */
const linked = (hours: number) => ({ ...CHANGES, delta: { url: 'x', at: hoursAgo(hours) } })

/** What is decided, why, and what follows from that, in a line. */
function told(decision: Decision): string {
  if (decision.do === 'refuse')
    return `refuse: ${decision.error.failure}: ${decision.error.message}`
  if (decision.do === 'restore')
    return decision.startOver === undefined
      ? 'continue'
      : `start over: ${decision.startOver.why}; ${decision.startOver.message}`
  const { why, replacesOlder, warning } = decision
  const parts = [`begin: ${why}`, replacesOlder ? [] : 'older rows stay', warning?.message ?? []]
  return parts.flat().join('; ')
}

const ANEW =
  'the stream is read from the beginning. Rows that were deleted meanwhile may remain; _generation tells them apart.'
const OTHER_TENANT =
  "begin: other tenant; older rows stay; the stored state is of another tenant or environment; the stream is read from the beginning and nothing is deleted, because the rows in the warehouse may be another tenant's."
const OTHER_STREAM = `begin: no usable state; the stored state cannot be used, it belongs to a stream that is read in another way; ${ANEW}`
const SETTINGS =
  'the external references, activity structures or treatment of personal data in the configuration have changed'
const OTHER_FIELDS =
  'start over: other fields; its records now have fields that they did not have at the last sync'
const OLD =
  'start over: expired link; its link to the service is 72 hours old, and the service forgets a delta after 72 hours'
const ASKED = 'start over: full refresh; a full refresh was asked for'
const refused = (why: string) =>
  `refuse: config: An earlier attempt of this full refresh has written rows, but ${why}. The destination would keep the rows of both attempts, so nothing is read. Sync again: the next job has another generation_id, and reads everything again. If your platform gives each job the same one, clear the state of the stream.`

const other = (more: Partial<StoredState>) => task({ storedState: stored(more) })
const REFRESHED = task({ storedState: stored(), startOver: 'full refresh' })
const OTHER_MODE = task({ mode: 'full_refresh', storedState: stored() })
const withFields = (...more: string[]) =>
  task({ storedState: stored(), fields: ['id', 'date', ...more] })
/** A state of a stream with days from this one on. */
const from = (start: string): Partial<StoredState> => ({
  start,
  position: { ...CHANGES, window: start },
})

it.each<[string, StreamTask, string]>([
  ['without a state', task(), 'begin: first sync'],
  ['of a full refresh without a state', task({ mode: 'full_refresh' }), 'begin: full refresh'],
  [
    'full list, no delta',
    task({ byLists: { from: null, until: null } }),
    'begin: full list, no delta',
  ],
  [
    'with a state that cannot be read',
    task({ storedState: [1] }),
    `begin: no usable state; the stored state cannot be used, it is not an object; ${ANEW}`,
  ],
  ['with the state of a stream without days', other({ start: null, position: LIST }), OTHER_STREAM],
  [
    'with the delta of a stream that is listed',
    sectors({ ...CHANGES, window: null }),
    OTHER_STREAM,
  ],
  [
    'in another sync mode',
    OTHER_MODE,
    `begin: other sync mode; the sync mode has changed; ${ANEW}`,
  ],
  ['of another tenant', other({ service: 'other at https://other.protime.test' }), OTHER_TENANT],
  ['of another environment', other({ environment: 'sandbox' }), OTHER_TENANT],
  ['with its state', other({}), 'continue'],
  ['before its first page', other({ position: BEFORE }), 'continue'],
  ['without days, before its list', sectors(FIRST_LIST), 'continue'],
  ['with a link of 72 hours', other({ position: linked(72) }), 'continue'],
  ['with an older link', other({ position: linked(72.1) }), OLD],
  [
    'with an older link behind its lists',
    other({
      start: '2024-01-01',
      position: historyOf({ ...linked(80), window: '2025-01-01' }),
    }),
    OLD.replace('72', '80'),
  ],
  ['if a full refresh was asked for', REFRESHED, ASKED],
  [
    'under another address of the tenant',
    other({ service: 'acme at https://elsewhere.test' }),
    'start over: other address; the tenant has another address or API name than at the last sync',
  ],
  ['under other settings', other({ settings: 'other' }), `start over: other settings; ${SETTINGS}`],
  [
    'with an earlier start date',
    other(from('2025-07-01')),
    'start over: earlier start date; the start date has moved back from 2025-07-01 to 2025-06-01',
  ],
  ['with a later start date', other(from('2025-05-01')), 'continue'],
  ['with new fields', withFields('a', 'b', 'c', 'd', 'e'), `${OTHER_FIELDS}, a, b, c, d, e`],
  [
    'with many new fields',
    withFields('a', 'b', 'c', 'd', 'e', 'f', 'g'),
    `${OTHER_FIELDS}, a, b, c, d, e and 2 more`,
  ],
  ['with fewer fields', task({ storedState: stored(), fields: ['id'] }), 'continue'],
  ['of a further attempt of a full refresh', refreshing(begun()), 'continue'],
  ['of the next full refresh', refreshing(begun({ refresh: 4 })), ASKED],
  [
    'of a full refresh whose state does not say which one it is of',
    refreshing(begun({ refresh: null })),
    'continue',
  ],
  [
    'of a full refresh that does not say which one it is',
    task({ mode: 'full_refresh', storedState: begun() }),
    'continue',
  ],
  [
    'with its state, whatever the number of the job',
    task({ refresh: 6, storedState: stored({ refresh: 5 }) }),
    'continue',
  ],
  [
    'of a further attempt of a job under other settings',
    task({ refresh: 5, storedState: stored({ refresh: 5, settings: 'other', wholeRows: 3 }) }),
    `start over: other settings; ${SETTINGS}`,
  ],
  ['of a further attempt under other settings', changed({ keys: NO_IDS }), refused(SETTINGS)],
  [
    'of a further attempt under other settings, after one that has found no row',
    changed({ rowsSoFar: 0, keys: NO_IDS }),
    `start over: other settings; ${SETTINGS}`,
  ],
  ['of such an attempt whose rows are counted again', changed({ rowsSoFar: 0 }), refused(SETTINGS)],
  [
    'of such an attempt whose ids were too many',
    changed({ rowsSoFar: 0, keys: { ...NO_IDS, isTracked: false } }),
    refused(SETTINGS),
  ],
  [
    'of a further attempt for another tenant',
    changed({ service: 'other at https://other.protime.test' }),
    refused('the stored state is of another tenant or environment'),
  ],
])('a stream %s: %#', (_, given, expected) => {
  expect(told(decide(given, settings))).toBe(expected)
})

/** The state with which a stream is read, and what is said before. */
function planned(given: StreamTask) {
  const said: string[] = []
  const log = {
    debug: (text: string) => void said.push(`debug: ${text}`),
    warn: ({ message }: IdentifiedMessage) => void said.push(message),
  }
  const tools = {
    clock: { now: () => NOW },
    log,
    ids: createIdBudget(new Map([[given.stream.stream, 0]])),
  }
  return { state: plan(decide(given, settings), given, tools), said }
}

describe('the state of a read', () => {
  it.each<[string, StreamTask, string[]]>([
    ['says nothing if it is the first', task(), []],
    ['says nothing if it continues', other({}), []],
    ['warns if it begins without the ids', OTHER_MODE, [`the sync mode has changed; ${ANEW}`]],
    [
      'warns if the ids are damaged',
      other({ keys: { ...NO_IDS, window: 'damaged' } }),
      [`the stored state cannot be used, its set of ids is damaged; ${ANEW}`],
    ],
    [
      'warns if it starts over',
      other({ settings: 'other' }),
      [`${SETTINGS}; the stream is read from the beginning.`],
    ],
    [
      'does not warn of what was asked for',
      REFRESHED,
      ['debug: a full refresh was asked for; the stream is read from the beginning.'],
    ],
  ])('%s', (_, given, expected) => {
    expect(planned(given).said).toEqual(expected)
  })

  it('of two attempts that would be mixed does not exist', () => {
    expect(() => planned(changed({}))).toThrow('An earlier attempt')
  })

  it('that begins counts on from the cursor, and may not delete what another tenant has', () => {
    const { state } = planned(other({ cursor: 2 ** 52, service: 'other at https://x.test' }))
    expect(state).toMatchObject({
      service: 'acme at https://acme.protime.test/connector/svcapi/api/v1',
      start: '2025-06-01',
      cursor: 2 ** 52 + 999_999,
      replacesOlder: false,
      isContinued: false,
      begunFrom: { how: 'from the beginning: other tenant' },
    })
    expect(planned(task()).state.replacesOlder).toBe(true)
  })

  it('that continues keeps the first day', () => {
    const early = from('2025-05-01')
    const { state } = planned(other({ ...early, cursor: 2 ** 52 }))
    expect(state).toMatchObject({
      start: '2025-05-01',
      cursor: 2 ** 52 + 999_999,
      isContinued: true,
      position: early.position,
    })
  })

  it('whose ids are damaged counts on from the cursor', () => {
    const { state } = planned(other({ cursor: 2 ** 52, keys: { ...NO_IDS, window: 'damaged' } }))
    expect(state).toMatchObject({ cursor: 2 ** 52 + 999_999, replacesOlder: true })
  })

  it.each<[string, Partial<StoredState>, string | null]>([
    ['an earlier first day', { start: '2025-07-01' }, '2025-06-01'],
    ['its first day otherwise', { start: '2025-05-01', settings: 'other' }, '2025-05-01'],
  ])('that starts over has %s', (_, more, start) => {
    const position = { ...CHANGES, window: more.start ?? null }
    const { state } = planned(other({ ...more, position }))
    expect(state).toMatchObject({ start, position: INITIAL, isContinued: false })
    expect(state.generation).toBeGreaterThan(1_795_000_000)
  })

  it.each<[string, StreamTask, number]>([
    ['the first phase before its first page', other({ position: BEFORE }), 2],
    [
      'the first phase behind it',
      other({ position: { ...BEFORE, page: { url: 'x', at: hoursAgo(1) } } }),
      0,
    ],
    ['the changes', other({}), 0],
    ['a list', sectors(FIRST_LIST), 0],
    ['everything, because it starts over', other({ settings: 'other' }), 2],
  ])('looks for all rows again in %s: %#', (_, given, gone) => {
    expect(planned(given).state.keys.gone()).toHaveLength(gone)
  })
})

it.each<[string, StreamTask, number, boolean]>([
  ['begins', task(), 0, false],
  ['continues its changes', other({}), WINDOW.length, true],
  ['continues a list', sectors(LIST), WINDOW.length, false],
  ['starts over', other({ settings: 'other' }), WINDOW.length, false],
  ['is refused', changed({}), WINDOW.length, false],
])('a stream that %s has its ids in the state, and may continue a delta: %#', (...row) => {
  const [, given, characters, isDelta] = row
  const decision = decide(given, settings)
  expect([storedCharacters(decision), continuesDelta({ decision })]).toEqual([characters, isDelta])
})

it.each<[string, StreamTask, string]>([
  ['from the beginning', task(), 'from the beginning: first sync'],
  ['with its changes', other({}), 'incremental'],
  ['anew', other({ settings: 'other' }), 'from the beginning: other settings'],
  ['as a whole list', refreshing(begun({ isSettled: true })), 'whole list'],
])('tells observers that a stream is read %s', (_, given, how) => {
  expect(startOf(decide(given, settings)).how).toBe(how)
})

const DEAD = 'HTTP 409, API v1.0'
const ENDED = ['ended delta', true] as const
const EXPIRED = ['its link has expired.', 'expired link'] as const

it.each<[DeadLinkReason, Position, string, string, true?]>([
  ['used', CHANGES, 'its link is used up, because the response to it was lost.', 'lost response'],
  ['unusable', CHANGES, 'its link cannot be used any more.', 'unusable link'],
  ['expired', CHANGES, 'its delta has ended, although its link is only 24.0 hours old.', ...ENDED],
  ['expired', { ...CHANGES, delta: { url: 'x', at: null } }, ...EXPIRED],
  [
    'expired',
    { ...INITIAL, page: { url: 'x', at: hoursAgo(1) } },
    'its delta has ended, although its link is only 1.0 hours old.',
    ...ENDED,
  ],
  ['expired', { ...FIRST_LIST, history: { begunAt: null, changes: CHANGES } }, ...EXPIRED],
])(
  'says why a link that is %s starts a stream over: %#',
  (reason, position, text, why, isQuiet) => {
    expect(reasonOfDeadLink(new DeadLinkError(reason, `${DEAD}.`), position, NOW)).toEqual({
      why,
      message: `${text} ${DEAD}`,
      isDeadLink: true,
      isQuiet,
    })
  },
)
