import type { Config } from '../config/config.ts'
import { ConnectorError } from '../ground/errors.ts'
import { textOfBody } from '../ground/json.ts'
import type { Client } from '../http/client.ts'
import { type Endpoints, requestUrl } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { CHECK_RETRY_MS, retryPolicyOf } from '../http/retry.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope, type Token } from '../http/token.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import type { CheckResult } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { readScopes } from '../streams/streams.ts'
import { refuseLateStart } from '../sync/days.ts'
import { askStream, type StreamAnswer } from './ask-stream.ts'
import { type Findings, verdict } from './check-verdict.ts'

/**
 * Finds configured custom references that the service does not have, and returns them as `name of collection`. The
 * service accepts unknown names and adds nothing to the records. References with an unclear answer are left out.
 */
async function unregisteredReferences(
  { externalReferences }: Config,
  { client, endpoints }: { readonly client: Client; readonly endpoints: Endpoints },
): Promise<string[]> {
  const unregistered: string[] = []
  for (const { collection, names } of externalReferences) {
    // Names that begin with @ are predefined by the service, which does not list them.
    for (const name of names.filter((name) => !name.startsWith('@'))) {
      const path = `/external-references/${collection}/${encodeURIComponent(name)}`
      const isMissing = await client
        .get(requestUrl({ path }, endpoints))
        .then((body) => 'whole' in body && isEmpty(textOfBody(body.whole)))
        .catch(isUnknown)
      if (isMissing) unregistered.push(`${name} of ${collection}`)
    }
  }
  return unregistered
}

/** Whether an answer is an empty list. The form of the answer is not documented, so an unknown form is not empty. */
function isEmpty(text: string): boolean {
  try {
    const { references, nextLink } = parseReferencePage(text, '')
    return references.length === 0 && nextLink === undefined
  } catch {
    return false
  }
}

function isUnknown(error: unknown): boolean {
  if (error instanceof ConnectorError) return error instanceof HttpError && error.is('missing')
  throw error
}

/** The maximum duration of a check. */
const LONGEST_CHECK_MS = 15_000

export interface CheckSettings extends SessionSettings {
  /** The maximum duration in milliseconds; by default 15,000. */
  readonly limitMs?: number
}

/** The check has reached its maximum duration. */
class TimeIsUp extends Error {
  override name = 'TimeIsUp'
}

/**
 * Checks the configuration: requests a token without naming scopes, and the first page of the list of every stream that
 * the token covers, but never a delta. The result says which streams cannot be read and why. Failures of the service or
 * of the connection are results, too. Throws only if the process has to stop.
 */
export async function checkService(
  streams: readonly Stream[],
  settings: CheckSettings,
): Promise<CheckResult> {
  const {
    config,
    signal,
    retryPolicy = retryPolicyOf(config.retryMinutes, CHECK_RETRY_MS),
  } = settings
  const limitMs = settings.limitMs ?? Math.max(LONGEST_CHECK_MS, twoRequestsMs(config))
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new TimeIsUp()), limitMs)
  const session = createSession(
    { ...settings, retryPolicy, signal: AbortSignal.any([signal, limit.signal]) },
    undefined,
  )
  try {
    const findings = await ask(streams, session, config)
    return verdict({ ...findings, ...session, config, seconds: limitMs / 1000 })
  } finally {
    clearTimeout(timer)
    await session.close()
  }
}

/** A little more than the time of two requests at the configured rate: a low rate must not make every check fail. */
function twoRequestsMs({ requestsPerMinute }: Config): number {
  return requestsPerMinute === undefined ? 0 : 2.5 * (60_000 / requestsPerMinute)
}

async function ask(
  streams: readonly Stream[],
  session: Session,
  config: Config,
): Promise<Findings> {
  const token = await inTime(tokenOf(session))
  if (token === undefined || token instanceof ConnectorError) return { token }
  refuseLateStart(config.startDate, session.clock.now())
  const mayRead = (stream: Stream) => hasScope(token, session.endpoints, readScopes(stream))
  const denied = streams.filter((stream) => !mayRead(stream))
  const asked = await askAll(cheapestFirst(streams.filter(mayRead)), session, config)
  const isListed = asked.get('external_references')?.answer?.kind === 'readable'
  const unregistered = isListed
    ? ((await inTime(unregisteredReferences(config, session))) ?? [])
    : []
  return { token, denied, asked: [...asked.values()], unregistered }
}

function tokenOf({ client }: Session): Promise<Token | ConnectorError> {
  return client.token().catch((error) => {
    if (error instanceof ConnectorError) return error
    throw error
  })
}

/** Asks for all streams, as many at a time as a sync reads. The answer is undefined if it came too late. */
async function askAll(streams: readonly Stream[], session: Session, config: Config) {
  const { client, endpoints, clock } = session
  const tools = { client, endpoints, config, now: clock.now() }
  const asked = new Map(
    streams.map((stream) => [
      stream.stream,
      { stream, answer: undefined as StreamAnswer | undefined },
    ]),
  )
  const queue = asked.values()
  const worker = async () => {
    for (const entry of queue) entry.answer = await inTime(askStream(entry.stream, tools))
  }
  await Promise.all(Array.from({ length: config.concurrency }, worker))
  return asked
}

/** Waits for the work; resolves to undefined if the maximum duration of the check is over first. */
function inTime<T>(work: Promise<T>): Promise<T | undefined> {
  return work.catch((error) => {
    if (error instanceof TimeIsUp) return undefined
    throw error
  })
}

/** Sorts small collections first, so that there are some answers if the time is too short for all. */
function cheapestFirst(streams: readonly Stream[]): Stream[] {
  const cost = (stream: Stream) =>
    (stream.dateField ? 2 : 0) + (stream.nested ? 4 : 0) + (stream.collection === 'people' ? 1 : 0)
  return [...streams].sort((a, b) => cost(a) - cost(b))
}
