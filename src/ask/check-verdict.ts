import type { Config } from '../config/config.ts'
import type { ConnectorError } from '../ground/errors.ts'
import type { Traffic } from '../http/client.ts'
import { type Endpoints, scopeName } from '../http/endpoints.ts'
import { HttpError } from '../http/http-error.ts'
import type { Token } from '../http/token.ts'
import type { CheckResult } from '../protocol/connector.ts'
import type { Stream } from '../streams/collections.ts'
import { readScopes } from '../streams/streams.ts'
import type { StreamAnswer } from './ask-stream.ts'

/** A stream and the answer for it; undefined if the answer did not come in time. */
interface Asked {
  readonly stream: Stream
  readonly answer: StreamAnswer | undefined
}

/** What a check has found: the reason why there is no token, or the answer for each stream. */
export type Findings =
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

/** Turns the findings into the result of the check, which says what to do. It succeeds if any stream can be read. */
export function verdict(facts: Findings & Circumstances): CheckResult {
  const { endpoints } = facts
  if (!('asked' in facts)) {
    return failed(facts.token ? advised(facts.token) : silence(facts, new URL(endpoints.tokenUrl)))
  }
  const { token, denied, asked } = facts
  if (asked.length === 0) return failed(notEntitled(token, denied, endpoints))
  const readable = asked.filter(({ answer }) => answer?.kind === 'readable').length
  const shared = readable === 0 ? sharedCause(asked, facts) : undefined
  const clauses = [
    shared ?? opening(readable, asked.length + denied.length),
    ...(shared === undefined ? [refused(asked), unlisted(asked), late(asked, facts)] : []),
    lacking(denied, endpoints),
    unregistered(facts.unregistered),
  ]
  const message = clauses.filter((clause) => clause !== '').join(' ')
  return { isUsable: readable > 0, message }
}

function failed(message: string): CheckResult {
  return { isUsable: false, message }
}

function opening(readable: number, all: number): string {
  return readable === 0 ? 'No stream can be read.' : `${readable} of ${all} streams can be read.`
}

/** One message for all streams if none can be read and all have the same cause. */
function sharedCause(asked: readonly Asked[], facts: Circumstances): string | undefined {
  const { origin, mount, prefix, apiName } = facts.endpoints
  const [first, ...others] = asked.flatMap(({ answer }) => answer ?? [])
  if (first === undefined) return silence(facts, new URL(origin))
  if (others.some((answer) => causeOf(answer) !== causeOf(first))) return undefined
  if ('error' in first && first.error instanceof HttpError && first.error.is('missing')) {
    return `The service answers ${first.error.status} for every list at ${origin}${mount}${prefix}. Check environment.api_name, which is ${apiName}, and the address of the tenant.`
  }
  if (!('error' in first)) {
    return `The server at ${origin}${mount} is not the API: its answers are not JSON. Check the tenant, the environment and its addresses.`
  }
  return `No stream can be read. ${advised(first.error)}`
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
  if (!('error' in answer)) return 'this is not the API: the answer is not JSON'
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
  return streams.length === 0 ? '' : `No answer within ${seconds} seconds: ${listed(streams)}.`
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
    : `Not readable, because the client lacks the scope: ${names.join(', ')}.`
}

function scopeOf(stream: Stream, endpoints: Endpoints): string {
  return scopeName(endpoints, readScopes(stream)[0])
}

/** The message if no scope fits. Scopes of another API show that the configured name of the API is wrong. */
function notEntitled(token: Token, denied: readonly Stream[], endpoints: Endpoints): string {
  const { apiName } = endpoints
  const granted = [...(token.scopes ?? [])]
  const other = granted.flatMap((scope) => apiOf(scope, denied) ?? [])[0]
  return other === undefined
    ? `The client may read nothing: it has no scope such as ${scopeName(endpoints, 'people.read')} or ${scopeName(endpoints, 'all.read')}. Ask the operator of the service for scopes, or check environment.api_name, which is ${apiName}.`
    : `The client may read nothing of the API ${apiName}: its scopes are those of ${other}. Set environment.api_name to ${other}.`
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

/** The message if no answer came in time. */
function silence({ client, seconds }: Circumstances, { host }: URL): string {
  return client.traffic.refusals > 0
    ? `The service asks to wait for longer than the ${seconds} seconds of a check, because it gets too many requests. Try again later.`
    : `${host} did not answer within ${seconds} seconds. Check the tenant, the environment and its addresses, your network, and the proxy if there is one.`
}

/** Adds advice for temporary statuses; the messages of other failures already say what to do. */
function advised(error: ConnectorError): string {
  const isStatus = error instanceof HttpError || error.cause instanceof HttpError
  return isStatus && error.failure === 'transient'
    ? `${error.message} Try again later.`
    : error.message
}
