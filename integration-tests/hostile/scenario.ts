import { expect } from 'vitest'
import type { RetryPolicy } from '../../src/http/retry.ts'
import { type AirbyteRun, run } from '../testing/run.ts'
import {
  type Answers,
  page,
  type RawService,
  reply,
  rowOf,
  startRawService,
  type Wire,
} from './raw-service.ts'

/** What must never appear in a message other than a record or a state. */
export const SECRET = 'the-client-secret/with+signs='
export const TOKEN = 'the.access-token_of~the/service'
export const DELTA_TOKEN = 'the-delta-token-8bbd04'

export const PREFIX = '/connector/svcapi/api/v1'
export const LIST = `${PREFIX}/job-categories`
/** The link of the page at which the service misbehaves. */
export const SECOND = `${LIST}?continuationToken=second-page`

/** The stream that is listed whole, of which most rows make use. */
export const STREAM = 'job_categories'

/** A good token answer. */
export function token(extra: object = {}): Buffer {
  return reply(
    200,
    JSON.stringify({ access_token: TOKEN, expires_in: 1800, token_type: 'Bearer', ...extra }),
  )
}

export function configOf(service: string, auth = service): object {
  return {
    tenant: 'demo',
    environment: {
      type: 'custom',
      base_url: service,
      auth_url: `${auth}/tenants/demo`,
    },
    client_id: 'connector',
    client_secret: SECRET,
    start_date: '2026-11-01',
    future_days: 0,
    request_timeout_seconds: 1,
    retry_minutes: 0.02,
  }
}

/** What a scenario brought to light. */
export interface ScenarioRun extends AirbyteRun {
  readonly service: RawService
  /** Every request that another origin got to see. */
  readonly requestsElsewhere: RawService['requests']
}

export interface Scenario {
  /** Answers of the API; `elsewhere` is the address of another origin. */
  readonly api: (elsewhere: string) => Answers
  readonly token?: (elsewhere: string) => Answers
  readonly command?: 'check' | 'read'
  readonly stream?: string
  /** The bookmark of the stream, as one of this very service: that of another address starts the stream over. */
  readonly bookmark?: object
  readonly retryPolicy?: RetryPolicy
  /** More settings. */
  readonly settings?: object
}

/** Runs a command against a service that misbehaves, with another origin listening. */
export async function runScenario(scenario: Scenario): Promise<ScenarioRun> {
  const { api, token: tokens = () => () => token(), command = 'read', stream = STREAM } = scenario
  // Whoever is sent here by mistake gets an answer, so that the mistake would succeed.
  const elsewhere = await startRawService(() => page([rowOf(666)]))
  const service = await startRawService((asked, nth) =>
    asked.target.includes('/connect/token')
      ? tokens(elsewhere.url)(asked, nth)
      : api(elsewhere.url)(asked, nth),
  )
  try {
    const recording = await run({
      program: 'source-protime',
      command,
      in: 'process',
      config: { ...configOf(service.url), ...scenario.settings },
      ...(command === 'read' && { catalog: [stream], state: stateOf(scenario, service.url) }),
      ...(scenario.retryPolicy && { retryPolicy: scenario.retryPolicy }),
    })
    return { ...recording, service, requestsElsewhere: elsewhere.requests }
  } finally {
    await Promise.all([service.close(), elsewhere.close()])
  }
}

function stateOf({ bookmark, stream = STREAM }: Scenario, service: string): unknown {
  if (bookmark === undefined) return undefined
  const stream_state = { service: `demo at ${service}${PREFIX}`, ...bookmark }
  return [{ type: 'STREAM', stream: { stream_descriptor: { name: stream }, stream_state } }]
}

/** A good first page with two rows, then a second one that is what the test is about. */
export function secondPage(wire: (elsewhere: string) => Wire): Scenario {
  return {
    api: (elsewhere) => (asked) => {
      if (asked.target === LIST) return page([rowOf(1), rowOf(2)], { nextLink: SECOND })
      return asked.target === SECOND ? wire(elsewhere) : page([rowOf(9)])
    },
  }
}

export type FailureType = 'config' | 'transient' | 'system'

/** What holds of every recording, whatever the service does: no secret is told, no other origin is asked. */
export function expectNoLeak({ messages, requestsElsewhere }: ScenarioRun): void {
  expect(
    requestsElsewhere.map(({ target, headers }) => [target, headers.get('authorization')]),
  ).toEqual([])
  const told = messages
    // Records are the service's own data, and a state must hold the links as they are.
    .filter(({ type }) => type !== 'RECORD' && type !== 'STATE')
    .map((message) => JSON.stringify(message))
    .join('\n')
  for (const secret of [SECRET, TOKEN, DELTA_TOKEN]) {
    // The beginning of a secret that was cut off gives it away as well.
    const forms = [
      secret,
      secret.toUpperCase(),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64'),
      Buffer.from(secret).toString('hex'),
    ]
    for (const form of forms) {
      expect(told).not.toContain(form.slice(0, 12))
    }
  }
}

/** The run failed once, in this way and with these words, which end like a sentence. */
export function expectFailure(
  { exitCode, errors }: ScenarioRun,
  failure: FailureType,
  words: string | RegExp,
): void {
  expect(errors.map(({ failure_type, message }) => ({ failure_type, message }))).toEqual([
    { failure_type: `${failure}_error`, message: expect.stringMatching(asPattern(words)) },
  ])
  expect(errors[0]?.message).toMatch(/[.] \[[\w-]+\]$/)
  expect(errors[0]?.message).not.toMatch(/Unexpected error in the connector|undefined|\[object/)
  expect(exitCode).toBe(1)
}

/** The first page counts as read, and nothing of the second one: it is where the next sync continues. */
export function expectStoppedBeforeSecondPage(recording: ScenarioRun): void {
  expect(recording.records(STREAM).map(({ id }) => id)).toEqual([1, 2])
  expect(recording.states(STREAM).at(-1)).toMatchObject({ phase: 'list', link: SECOND })
}

function asPattern(words: string | RegExp): RegExp {
  return words instanceof RegExp ? words : new RegExp(words.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
}
