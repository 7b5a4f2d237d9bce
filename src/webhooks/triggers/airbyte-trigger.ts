import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectorError } from '../../ground/errors.ts'
import { tryParseJson } from '../../ground/json.ts'
import type { Order, Trigger, TriggerOutcome } from '../serve/sync-scheduler.ts'
import { request as send, sentence } from './post-trigger.ts'

export interface AirbyteSettings {
  /** The address of Airbyte's public API, such as `https://airbyte.acme.example/api/public`. */
  readonly url: string
  readonly clientId: string
  readonly clientSecret: string
  readonly connectionId: string
  /** The time between two requests for the status of a job. */
  readonly pollMs: number
  /** How long a job may be pending, or its status not readable, before its sync counts as failed. */
  readonly pendingMs: number
}

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

/** How long the start waits for Airbyte to accept our credentials. */
const CHECK_MS = 5000
/** Final statuses of a job; every other one may still change. */
const ENDED: ReadonlyMap<unknown, TriggerOutcome['result']> = new Map([
  ['succeeded', 'done'],
  ['failed', 'failed'],
  ['cancelled', 'cancelled'],
])
/** Its answers have only a few hundred bytes. */
const MAX_BYTES = 1_048_576

/**
 * Starts a sync of an Airbyte connection and waits for the end of its job, which may take hours. If Airbyte
 * already runs a job, the result is busy. If the answer to the start was lost, the next attempt finds the job
 * and is busy.
 */
export function createAirbyteTrigger(settings: AirbyteSettings): Trigger {
  const { url, clientId, clientSecret, connectionId, pollMs, pendingMs } = settings
  /** The token is used until it is refused: tokens are valid for minutes only. */
  let token: string | undefined
  return Object.assign(sync, { check })

  async function sync(_order: Order, signal: AbortSignal): Promise<TriggerOutcome> {
    try {
      const start = await request('POST', '/v1/jobs', { connectionId, jobType: 'sync' }, signal)
      if (start.status === 409)
        return { result: 'busy', detail: 'Airbyte already runs a sync of this connection' }
      if (start.status >= 300) return refused(start, 'the start of a sync')
      const jobId = start.body['jobId']
      if (jobId === undefined) return failed('Airbyte responded without the id of a job')
      return await awaitJob(encodeURIComponent(String(jobId)), start.body['status'], signal)
    } catch (error) {
      if (error instanceof TokenError) return refused(error, 'a token')
      return failed(`Airbyte cannot be reached: ${sentence(error)}`)
    }
  }

  async function check(signal: AbortSignal): Promise<void> {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(CHECK_MS)])
    token = await newToken(soon).catch((error: unknown) => {
      // If Airbyte is down, or starts at the same time as this program, each sync tries again.
      if (!(error instanceof TokenError) || error.status >= 500 || error.status === 429)
        return undefined
      throw new ConnectorError(
        'config',
        'no-airbyte-token',
        `Airbyte returned no token (status ${error.status}): check AIRBYTE_URL, AIRBYTE_CLIENT_ID and AIRBYTE_CLIENT_SECRET.`,
      )
    })
  }

  async function awaitJob(
    id: string,
    first: unknown,
    signal: AbortSignal,
  ): Promise<TriggerOutcome> {
    const late = performance.now() + pendingMs
    const patience = `${pendingMs / 1000} seconds`
    let readAt = performance.now()
    for (let status = first; ; ) {
      const result = ENDED.get(status)
      if (result !== undefined) return { result, detail: `job ${id} ${status}` }
      if (status === 'pending' && performance.now() > late) {
        // The next attempt finds the job running, and is busy.
        return failed(
          `job ${id} is still pending after ${patience}: check whether Airbyte has a free worker`,
        )
      }
      if (performance.now() > readAt + pendingMs)
        return failed(`the status of job ${id} could not be read for ${patience}`)
      await sleep(pollMs, undefined, { signal })
      // A job continues while its status is not available.
      const answer = await request('GET', `/v1/jobs/${id}`, undefined, signal).catch(
        (error: unknown) => {
          if (signal.aborted || isRefusal(error)) throw error
          return undefined
        },
      )
      if (answer === undefined) continue
      if (isFinal(answer.status)) return refused(answer, `the status of job ${id}`)
      const told = answer.body['status']
      if (typeof told !== 'string') continue
      status = told.toLowerCase()
      readAt = performance.now()
    }
  }

  async function request(
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    signal: AbortSignal,
  ): Promise<Answer> {
    token ??= await newToken(signal)
    const first = await ask(method, path, body, signal, token)
    if (first.status !== 401) return first
    token = undefined
    token = await newToken(signal)
    return ask(method, path, body, signal, token)
  }

  async function newToken(signal: AbortSignal): Promise<string> {
    const credentials = { client_id: clientId, client_secret: clientSecret }
    const body = { ...credentials, 'grant-type': 'client_credentials' }
    const granted = await ask('POST', '/v1/applications/token', body, signal)
    const token = granted.body['access_token']
    if (typeof token !== 'string') throw new TokenError(granted.status)
    return token
  }

  async function ask(
    method: 'GET' | 'POST',
    path: string,
    body: object | undefined,
    signal: AbortSignal,
    token?: string,
  ): Promise<Answer> {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    const answer = await send({
      ...{ method, url: `${url}${path}`, headers, body, signal },
      maxBytes: MAX_BYTES,
    })
    return { status: answer.status, body: Object(tryParseJson(answer.text)) }
  }
}

/** Whether another attempt cannot help. */
function isFinal(status: number): boolean {
  return status >= 300 && status < 500 && status !== 429
}

/** Airbyte's answer to the token request has no token. */
class TokenError extends Error {
  readonly status: number

  constructor(status: number) {
    super(`status ${status}`)
    this.status = status
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof TokenError && isFinal(error.status)
}

function refused({ status }: Pick<Answer, 'status'>, what: string): TriggerOutcome {
  const remedy =
    status === 401 || status === 403
      ? ': check AIRBYTE_CLIENT_ID, AIRBYTE_CLIENT_SECRET and their permissions'
      : ''
  return failed(`Airbyte refused ${what} with status ${status}${remedy}`)
}

function failed(detail: string): TriggerOutcome {
  return { result: 'failed', detail }
}
