import type { Config } from '../config/config.ts'
import { ConnectorError } from '../ground/errors.ts'
import { textOfBody } from '../ground/json.ts'
import { type IdentifiedMessage, warningOf } from '../ground/message-ids.ts'
import type { Client, Traffic } from '../http/client.ts'
import { type Endpoints, notTheApi, requestUrl, scopeName } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import { CHECK_RETRY_MS, retryPolicyOf } from '../http/retry.ts'
import { createSession, type Session, type SessionSettings } from '../http/session.ts'
import { hasScope, type Token } from '../http/token.ts'
import { parseReferencePage } from '../page/reference-page.ts'
import type { CheckResult } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { readScopes } from '../streams/streams.ts'
import { refuseLateStart } from '../sync/delta-window.ts'
import { askStream, type StreamAnswer } from './ask-stream.ts'

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

/** A stream and the answer for it; undefined if the answer did not come in time. */
interface Asked {
  readonly stream: Stream
  readonly answer: StreamAnswer | undefined
}

/** What a check has found: the reason why there is no token, or the answer for each stream. */
type Findings =
  | { readonly token: ConnectorError | undefined }
  | {
      readonly token: Token
      /** Streams whose scope the client lacks. They were not requested. */
      readonly denied: readonly Stream[]
      readonly asked: readonly Asked[]
      /** References that the service accepts, but of which it has none. */
      readonly unregistered: readonly string[]
    }

/** Where the requests were sent, and for how long. */
interface Circumstances {
  readonly config: Config
  readonly endpoints: Endpoints
  readonly client: { readonly traffic: Readonly<Traffic> }
  readonly seconds: number
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

/** Turns the findings into the result of the check, which says what to do. It succeeds if any stream can be read. */
function verdict(facts: Findings & Circumstances): CheckResult {
  const { endpoints } = facts
  if (!('asked' in facts)) {
    const { token: fault } = facts
    return failed(fault ? advised(fault) : silence(facts, new URL(endpoints.tokenUrl)))
  }
  const { token, denied, asked } = facts
  if (asked.length === 0) return failed(notEntitled(token, denied, endpoints))
  const readable = asked.filter(({ answer }) => answer?.kind === 'readable').length
  const shared = readable === 0 ? sharedCause(asked, facts) : undefined
  const clauses = [
    shared?.message ?? opening(readable, asked.length + denied.length),
    ...(shared === undefined ? [refused(asked), unlisted(asked), late(asked, facts)] : []),
    lacking(denied, endpoints),
    unregistered(facts.unregistered),
  ]
  const message = clauses.filter((clause) => clause !== '').join(' ')
  return { isUsable: readable > 0, message, id: shared?.id }
}

function failed(fault: IdentifiedMessage): CheckResult {
  return { isUsable: false, id: fault.id, message: fault.message }
}

function opening(readable: number, all: number): string {
  return readable === 0 ? 'No stream can be read.' : `${readable} of ${all} streams can be read.`
}

/** One message for all streams if none can be read and all have the same cause. */
function sharedCause(asked: readonly Asked[], facts: Circumstances): IdentifiedMessage | undefined {
  const { origin, mount, prefix, apiName } = facts.endpoints
  const [first, ...others] = asked.flatMap(({ answer }) => answer ?? [])
  if (first === undefined) return silence(facts, new URL(origin))
  if (others.some((answer) => causeOf(answer) !== causeOf(first))) return undefined
  if ('error' in first && first.error instanceof HttpError && first.error.is('missing')) {
    const status = `The service responds with ${first.error.status} for every list at ${origin}${mount}${prefix}.`
    const advice = `Check environment.api_name, which is ${apiName}, and the address of the tenant.`
    return { id: 'api-not-found', message: `${status} ${advice}` }
  }
  if (!('error' in first)) return notTheApi(facts.endpoints)
  const { id, message } = advised(first.error)
  return { id, message: `No stream can be read. ${message}` }
}

/** The cause of an answer as text, without the address, which differs between streams. */
function causeOf(answer: StreamAnswer): string {
  if (!('error' in answer)) return answer.kind
  const { error } = answer
  return error instanceof HttpError ? String(error.status) : error.message
}

function refused(asked: readonly Asked[]): string {
  const names = new Map<string, string[]>()
  for (const { stream, answer } of asked) {
    if (answer?.kind !== 'refused' && answer?.kind !== 'foreign') continue
    const reason = reasonOf(answer)
    names.set(reason, [...(names.get(reason) ?? []), stream.stream])
  }
  const groups = [...names].map(([reason, streams]) => `${listed(streams)} (${reason})`).sort()
  return groups.length === 0 ? '' : `Not readable: ${groups.join('; ')}.`
}

function reasonOf(answer: StreamAnswer): string {
  if (!('error' in answer)) return 'this is not the API: the response is not JSON'
  const { error } = answer
  if (error instanceof HttpError) return `${error.status}: ${inSentence(error.reason)}`
  return inSentence(error.message)
}

/** Converts a sentence to a part of another one. */
function inSentence(sentence: string): string {
  const text = sentence.replace(/\.$/, '')
  return /^[A-Z][a-z ]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text
}

function unlisted(asked: readonly Asked[]): string {
  const streams = namesOf(asked, ({ answer }) => answer?.kind === 'unlisted')
  return streams.length === 0
    ? ''
    : `Not checked, because the service has no list of them and only a delta would show it: ${listed(streams)}.`
}

function late(asked: readonly Asked[], { seconds }: Circumstances): string {
  const streams = namesOf(asked, ({ answer }) => answer === undefined)
  return streams.length === 0 ? '' : `No response within ${seconds} seconds: ${listed(streams)}.`
}

function namesOf(asked: readonly Asked[], isMeant: (entry: Asked) => boolean): string[] {
  return asked.filter(isMeant).map(({ stream }) => stream.stream)
}

function listed(names: readonly string[]): string {
  return names.toSorted().join(', ')
}

function lacking(denied: readonly Stream[], endpoints: Endpoints): string {
  const names = denied.map((stream) => `${stream.stream} (${scopeOf(stream, endpoints)})`)
  return names.length === 0
    ? ''
    : `Not readable, because the client lacks the scope: ${names.join(', ')}. Ask the operator of the service for it.`
}

function scopeOf(stream: Stream, endpoints: Endpoints): string {
  return scopeName(endpoints, readScopes(stream)[0])
}

/** The message if no scope fits. Scopes of another API show that the configured name of the API is wrong. */
function notEntitled(
  token: Token,
  denied: readonly Stream[],
  endpoints: Endpoints,
): IdentifiedMessage {
  const { apiName } = endpoints
  const granted = [...(token.scopes ?? [])]
  const other = granted.flatMap((scope) => apiOf(scope, denied) ?? [])[0]
  const message =
    other === undefined
      ? `The client may read nothing: it has no scope such as ${scopeName(endpoints, 'people.read')} or ${scopeName(endpoints, 'all.read')}. Ask the operator of the service for scopes, or check environment.api_name, which is ${apiName}.`
      : `The client may read nothing of the API ${apiName}: its scopes are those of ${other}. Set environment.api_name to ${other}.`
  return { id: 'not-entitled', message }
}

/** Reads the name of the API from a scope for one of these streams: `connector-<api>-<collection>.read`. */
function apiOf(scope: string, streams: readonly Stream[]): string | undefined {
  const [, rest] = /^connector-(.+)\.read$/.exec(scope) ?? []
  const collections = ['all', ...streams.flatMap((stream) => stream.scopes ?? [stream.collection])]
  const [longest] = collections
    .filter((name) => rest?.endsWith(`-${name}`))
    .sort((a, b) => b.length - a.length)
  return longest === undefined ? undefined : rest?.slice(0, -longest.length - 1)
}

function unregistered(names: readonly string[]): string {
  return names.length === 0
    ? ''
    : `The service has no external reference ${names.join(', ')}: external_references adds nothing under that name.`
}

/** The message if no response came in time. */
function silence({ client, seconds }: Circumstances, { host }: URL): IdentifiedMessage {
  return client.traffic.throttled > 0
    ? warningOf(
        'check-failed',
        `The service is throttling requests for longer than the ${seconds} seconds of a check. Try again later.`,
      )
    : warningOf(
        'check-failed',
        `${host} did not respond within ${seconds} seconds. Check the tenant, the environment and its addresses, your network, and the proxy if there is one.`,
      )
}

/** Adds advice for temporary statuses; the messages of other failures already say what to do. */
function advised(error: ConnectorError): IdentifiedMessage {
  const isStatus = error instanceof HttpError || error.cause instanceof HttpError
  if (!isStatus || error.failure !== 'transient') return error
  return { id: error.id, message: `${error.message} Try again later.` }
}
