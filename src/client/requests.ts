import {
  isJsonObject,
  type JsonObject,
  parseExactly,
  tryParseExactly,
  tryParseJson,
} from '../ground/json.ts'
import type { ServiceAnswer } from '../http/client.ts'
import { createCircleCheck, MAX_URL_LENGTH, resolveLink, resourceUrl } from '../http/endpoints.ts'
import { HttpError, isPage } from '../http/http-error.ts'
import type { Session } from '../http/session.ts'
import { statusIs } from '../http/status.ts'
import { hasScope } from '../http/token.ts'
import type { Method } from '../http/transport.ts'
import { ClientError, missingScope, toClientError } from './client-error.ts'
import type { CallOptions, Removal, TranslatedText } from './service-client.ts'

/** A request to the service. */
export interface Operation extends CallOptions {
  readonly method: Method
  /** The segments below the prefix of the API, not encoded. */
  readonly path: readonly string[]
  /** The last segment of the path if it is personal data: no message and no log shows it. */
  readonly value?: string
  /** Encoded, without the question mark. */
  readonly query?: string | undefined
  readonly body?: object
  readonly ifMatch?: string | undefined
  /** The required scope, such as `job-categories.write`. */
  readonly scope: string
  /** False if the service's documents do not name the scope: then a token without it is tried. */
  readonly isScopeKnown?: false
}

/** Sends the requests of the resources; every failure is a ClientError. */
export interface Requests {
  send(operation: Operation): Promise<ServiceAnswer>
  /** Reads the answer of a GET; undefined if there is no such record (404). */
  get<T>(operation: Operation, read: (answer: ServiceAnswer) => T): Promise<T | undefined>
  /** Reads a list page by page. */
  pages<T>(operation: Operation, read: (text: string) => ListPage<T>): AsyncGenerator<T>
  remove(operation: Operation): Promise<Removal>
}

/** So many pages in a row may be empty, or like the one before. */
const MAX_REPEATED_PAGES = 1000

/** Sends requests over a session. */
export function createRequests({ client, endpoints }: Session, ended: AbortSignal): Requests {
  return { send, get, pages, remove }

  async function send(operation: Operation): Promise<ServiceAnswer> {
    return ask(operation, addressOf(operation))
  }

  async function get<T>(operation: Operation, read: (answer: ServiceAnswer) => T) {
    try {
      const answer = await send(operation)
      return readable(() => read(answer), operation)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  async function* pages<T>(operation: Operation, read: (text: string) => ListPage<T>) {
    let url = addressOf(operation)
    const isCircle = createCircleCheck(url)
    let shown: string | undefined
    let repeated = 0
    for (;;) {
      const { text } = await ask(operation, url)
      const { items, nextLink } = readable(() => read(text), operation)
      yield* items
      if (nextLink === undefined) return
      url = linked(nextLink, operation)
      if (isCircle(url)) throw damaged('a next link that it had sent before', operation)
      const before = shown
      shown = JSON.stringify(items)
      repeated = shown === before ? repeated + 1 : 0
      if (repeated > MAX_REPEATED_PAGES)
        throw damaged('page after page without anything new', operation)
    }
  }

  async function remove(operation: Operation): Promise<Removal> {
    try {
      await send(operation)
      return 'deleted'
    } catch (error) {
      if (!isMissing(error)) throw error
      // An earlier attempt may have had its effect although its answer was lost.
      return error.mayHaveHappened ? 'deleted' : 'absent'
    }
  }

  async function ask(operation: Operation, url: string): Promise<ServiceAnswer> {
    const { method, body, ifMatch, scope, value, isScopeKnown = true } = operation
    const own = operation.signal
    const signal = own === undefined ? ended : AbortSignal.any([ended, own])
    const loggedUrl = loggedUrlOf(operation)
    let mayHaveHappened = false
    try {
      const token = isScopeKnown ? await unlessAborted(signal, () => client.token()) : undefined
      if (token !== undefined && !hasScope(token, endpoints, [scope])) {
        throw missingScope(endpoints, scope)
      }
      const redactedValues = value === undefined ? [] : [value]
      const onUncertain = () => {
        mayHaveHappened = method !== 'GET'
        operation.onUncertain?.()
      }
      const request = { method, url, loggedUrl, body, ifMatch, redactedValues, onUncertain, signal }
      const answer = await unlessAborted(signal, () => client.send(request))
      // A proxy, or a server in maintenance: the service itself sends nothing or JSON.
      if (isPage(answer.text)) throw damaged(PAGE, operation, method !== 'GET')
      if (method === 'GET') return answer
      if (isError(answer))
        throw damaged('an error, although its status is that of a success', operation, true)
      // It was accepted for later, and may still fail or undo what is requested after it, or the body says something
      // that nobody knows.
      if (statusIs(answer.status, 'uncertain') || isText(answer)) onUncertain()
      return answer
    } catch (error) {
      // A proxy without a way to the service knows no record, and says nothing about any.
      if (error instanceof HttpError && error.isPage && error.is('missing'))
        throw damaged(PAGE, operation, mayHaveHappened)
      throw toClientError(error, { endpoints, scope, loggedUrl, mayHaveHappened, isScopeKnown })
    }
  }

  function addressOf({ path, query }: Operation): string {
    const resource = resourceUrl(path, endpoints)
    const url = query === undefined ? resource : `${resource}?${query}`
    if (url.length <= MAX_URL_LENGTH) return url
    throw new ClientError(
      'config',
      'request-too-long',
      `The request would have an address of ${url.length} characters, and the service accepts at most ${MAX_URL_LENGTH}: use a shorter name or value.`,
    )
  }

  function loggedUrlOf({ path, value }: Operation): string {
    if (value === undefined) return resourceUrl(path, endpoints)
    return `${resourceUrl(path.slice(0, -1), endpoints)}/****`
  }

  function linked(link: string, operation: Operation): string {
    try {
      return resolveLink(link, endpoints, { of: addressOf(operation) })
    } catch (error) {
      throw toClientError(error, {
        endpoints,
        scope: operation.scope,
        loggedUrl: loggedUrlOf(operation),
        mayHaveHappened: false,
        isScopeKnown: true,
      })
    }
  }

  function readable<T>(read: () => T, operation: Operation): T {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw damaged(`something that cannot be read: ${reasonOf(error)}`, operation)
    }
  }

  function damaged(what: string, operation: Operation, mayHaveHappened = false): ClientError {
    return new ClientError(
      'system',
      'response-not-understood',
      `The service responded with ${what} (${loggedUrlOf(operation)}). Tell the operator of the service.`,
      { mayHaveHappened },
    )
  }
}

const PAGE = 'a page, so it is not the service that responded'

function isText({ text }: ServiceAnswer): boolean {
  return text.trim() !== '' && tryParseJson(text) === undefined
}

/** The JSON of a member that is missing or says nothing. */
const NO_ERROR = /^(?:null|false|""|\[\]|\{\})$/

/** Whether an answer to a write has a member of the documented errors. */
function isError({ text }: ServiceAnswer): boolean {
  const body = createdBody(text)
  return ['error', 'validationErrors'].some(
    (name) => !NO_ERROR.test(JSON.stringify(member(body, name) ?? null)),
  )
}

/** The engine's own message shows a part of the text, which may be personal. */
function reasonOf({ message }: SyntaxError): string {
  return /JSON/.test(message) ? 'it is not JSON' : message
}

function isMissing(error: unknown): error is ClientError {
  return error instanceof ClientError && statusIs(error.status, 'missing')
}

/** The signal also ends waits that are shared with others, for example for a token. */
async function unlessAborted<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  let onAbort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** One page of a list. */
interface ListPage<T> {
  readonly items: readonly T[]
  readonly nextLink?: string | undefined
}

/**
 * The object of an answer, bare or in `value`, perhaps in a list. Throws a SyntaxError if there is not exactly one.
 */
export function parseOne(text: string): JsonObject {
  const body = parseExactly(text)
  const value = isJsonObject(body) ? member(body, 'value') : undefined
  const content = isJsonObject(value) || Array.isArray(value) ? value : body
  const [item, ...others] = Array.isArray(content) ? content : [content]
  if (!isJsonObject(item) || others.length > 0) throw new SyntaxError('it is not one object')
  return item
}

/** A member of an object; the case of its name is ignored. */
export function member(object: JsonObject, name: string): unknown {
  if (name in object) return object[name]
  const key = Object.keys(object).find((key) => key.toLowerCase() === name.toLowerCase())
  return key === undefined ? undefined : object[key]
}

/** A text, or a number as text; undefined for anything else. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : undefined
}

/**
 * The id of what a POST has created: the end of its Location, relative or absolute. Undefined unless the answer is a 201
 * with a Location below the collection: any other answer does not say that it was created.
 */
export function createdId(
  { status, header }: Pick<ServiceAnswer, 'status' | 'header'>,
  collection: string,
): string | undefined {
  const [path = ''] = (header('location') ?? '').split(/[?#]/, 1)
  const [id = '', parent] = path.replace(/\/+$/, '').split('/').reverse()
  return status === 201 && parent === collection && id !== '' ? decoded(id) : undefined
}

/** The object in the body of such an answer; an empty one if there is none. */
export function createdBody(text: string): JsonObject {
  const body = tryParseExactly(text)
  // The body is empty unless its content is documented.
  return isJsonObject(body) ? body : {}
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

/** The `name` of a record, with the parts that were sent. */
export function readTranslatedText(value: unknown): TranslatedText {
  if (!isJsonObject(value)) return { default: textOf(value) ?? '' }
  const translations = member(value, 'translations')
  const others = Object.entries(value).filter(([name]) => !/^(?:default|translations)$/i.test(name))
  return {
    ...Object.fromEntries(others),
    default: textOf(member(value, 'default')) ?? '',
    ...(isJsonObject(translations) && { translations: texts(translations) }),
  }
}

function texts(object: JsonObject): Record<string, string> {
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => {
      const text = textOf(value)
      return text === undefined ? [] : [[key, text]]
    }),
  )
}
