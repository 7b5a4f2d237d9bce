import { expect, it } from 'vitest'
import { parseConfig } from '../config/config.ts'
import { createEndpoints } from '../http/endpoints.ts'
import { DeadLinkError, type DeadLinkReason } from '../pages/page-failures.ts'
import type { StreamOutput } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { streams } from '../streams/streams.ts'
import { type Decision, decide, reasonOfDeadLink, startOf } from './plan.ts'
import { type Changes, LIST as FIRST_LIST, INITIAL, type Position } from './position.ts'
import { FRESH, fieldDigests, type StoredState, writeState } from './stored-state.ts'
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

/** A stored state that fits the settings, but for what is given. */
function stored(more: Partial<StoredState> = {}): unknown {
  const { start, ...identity } = identityOf(task(), settings)
  const keys = { highestVersion: null, isTracked: true, window: 'rAA==', history: null }
  const state: StoredState = {
    ...FRESH,
    ...identity,
    start,
    fields: fieldDigests(['id', 'date']),
    generation: 1_795_000_000,
    cursor: 7,
    isSettled: true,
    position: CHANGES,
    keys: { ...keys, pending: [], unconfirmed: null, written: null },
    ...more,
  }
  return writeState(state, state.keys)
}

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
const refreshing = (more: Partial<StreamTask>) =>
  task({ mode: 'full_refresh', refresh: 5, ...more })

/** What is decided, in a word, and why. */
function told(decision: Decision): string {
  if (decision.do === 'refuse') return `refuse: ${decision.error.id}`
  if (decision.do === 'begin')
    return `begin: ${decision.why}${decision.replacesOlder ? '' : ', older rows stay'}`
  return decision.startOver === undefined ? 'continue' : `start over: ${decision.startOver.why}`
}

it.each<[string, StreamTask, string]>([
  ['without a state', task(), 'begin: first sync'],
  ['of a full refresh without a state', task({ mode: 'full_refresh' }), 'begin: full refresh'],
  ['by lists alone', task({ byLists: { from: null, until: null } }), 'begin: by lists alone'],
  ['with a state that cannot be read', task({ storedState: [1] }), 'begin: no usable state'],
  [
    'with the state of a stream without days',
    task({ storedState: stored({ start: null, position: LIST }) }),
    'begin: no usable state',
  ],
  [
    'with the delta of a stream that is listed',
    task({
      stream: streams.get('sectors') as Stream,
      storedState: stored({ start: null, position: { ...CHANGES, window: null } }),
    }),
    'begin: no usable state',
  ],
  [
    'in another sync mode',
    task({ mode: 'full_refresh', storedState: stored() }),
    'begin: other sync mode',
  ],
  [
    'of another tenant',
    task({ storedState: stored({ service: 'other at https://other.protime.test' }) }),
    'begin: other tenant, older rows stay',
  ],
  [
    'of another environment',
    task({ storedState: stored({ environment: 'sandbox' }) }),
    'begin: other tenant, older rows stay',
  ],
  ['with its state', task({ storedState: stored() }), 'continue'],
  [
    'with a link of 72 hours',
    task({
      storedState: stored({ position: { ...CHANGES, delta: { url: 'x', at: hoursAgo(72) } } }),
    }),
    'continue',
  ],
  [
    'with an older link',
    task({
      storedState: stored({ position: { ...CHANGES, delta: { url: 'x', at: hoursAgo(72.1) } } }),
    }),
    'start over: expired link',
  ],
  [
    'with an older link behind its lists',
    task({
      storedState: stored({
        start: '2024-01-01',
        position: {
          phase: 'list',
          slice: null,
          page: null,
          until: '2024-12-31',
          history: {
            begunAt: null,
            changes: { ...CHANGES, window: '2025-01-01', delta: { url: 'x', at: hoursAgo(80) } },
          },
        },
      }),
    }),
    'start over: expired link',
  ],
  [
    'if a full refresh was asked for',
    task({ storedState: stored(), startOver: 'full refresh' }),
    'start over: full refresh',
  ],
  [
    'under another address of the tenant',
    task({ storedState: stored({ service: 'acme at https://elsewhere.test' }) }),
    'start over: other address',
  ],
  [
    'under other settings',
    task({ storedState: stored({ settings: 'other' }) }),
    'start over: other settings',
  ],
  [
    'with an earlier start date',
    task({
      storedState: stored({ start: '2025-07-01', position: { ...CHANGES, window: '2025-07-01' } }),
    }),
    'start over: earlier start date',
  ],
  [
    'with a later start date',
    task({
      storedState: stored({ start: '2025-05-01', position: { ...CHANGES, window: '2025-05-01' } }),
    }),
    'continue',
  ],
  [
    'with a new field',
    task({ storedState: stored(), fields: ['id', 'date', 'kind'] }),
    'start over: other fields',
  ],
  ['with fewer fields', task({ storedState: stored(), fields: ['id'] }), 'continue'],
  ['of a further attempt of a full refresh', refreshing({ storedState: begun() }), 'continue'],
  [
    'of the next full refresh',
    refreshing({ storedState: begun({ refresh: 4 }) }),
    'start over: full refresh',
  ],
  [
    'of a further attempt under other settings',
    refreshing({ storedState: begun({ settings: 'other' }) }),
    'refuse: refresh-begun-otherwise',
  ],
  [
    'of a further attempt for another tenant',
    refreshing({ storedState: begun({ service: 'other at https://other.protime.test' }) }),
    'refuse: refresh-begun-otherwise',
  ],
])('a stream %s: %#', (_, given, expected) => {
  expect(told(decide(given, settings))).toBe(expected)
})

it('keeps the cursor of a state that cannot be used otherwise', () => {
  const decision = decide(task({ mode: 'full_refresh', storedState: stored() }), settings)
  expect(decision).toMatchObject({ do: 'begin', cursor: 7 })
})

it.each<[string, StreamTask, string]>([
  ['from the beginning', task(), 'from the beginning: first sync'],
  ['with its changes', task({ storedState: stored() }), 'incremental'],
  ['as a whole list', refreshing({ storedState: begun({ isSettled: true }) }), 'whole list'],
])('tells observers that a stream is read %s', (_, given, how) => {
  expect(startOf(decide(given, settings)).how).toBe(how)
})

it.each<[DeadLinkReason, Position, string]>([
  ['used', CHANGES, 'its link is used up, because the answer to it was lost. HTTP 409'],
  ['unusable', CHANGES, 'its link cannot be used any more. HTTP 409'],
  ['expired', CHANGES, 'its delta has ended, although its link is only 24.0 hours old. HTTP 409'],
  ['expired', { ...CHANGES, delta: { url: 'x', at: null } }, 'its link has expired. HTTP 409'],
  [
    'expired',
    { ...INITIAL, page: { url: 'x', at: hoursAgo(1) } },
    'its delta has ended, although its link is only 1.0 hours old. HTTP 409',
  ],
  [
    'expired',
    { ...FIRST_LIST, history: { begunAt: null, changes: CHANGES } },
    'its link has expired. HTTP 409',
  ],
])('says why a link that is %s starts a stream over: %#', (why, position, message) => {
  expect(reasonOfDeadLink(new DeadLinkError(why, 'HTTP 409.'), position, NOW).message).toBe(message)
})
