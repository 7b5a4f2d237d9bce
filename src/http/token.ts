import { ConnectorError } from '../ground/errors.ts'
import { isJsonObject, tryParseJson } from '../ground/json.ts'
import type { Mask } from '../ground/mask.ts'
import { type Endpoints, scopeName } from './endpoints.ts'
import { HttpError } from './http-error.ts'

/** An access token and its scopes. */
export interface Token {
  readonly value: string
  /** The granted scopes; undefined if the answer does not list them. */
  readonly scopes: ReadonlySet<string> | undefined
  /** Whether the token was requested with scopes, so that another one may have more. */
  readonly isNarrow: boolean
}

/**
 * The access token of a process, which all requests share. Refusals of the token endpoint are ConnectorErrors, not
 * HttpErrors, because they say nothing about a link.
 */
export interface Tokens {
  /** A token that is valid now; concurrent callers share one request. */
  get(): Promise<Token>
  /** A newer token than `refused`; `wide` requests all scopes of the client. */
  renew(refused: Token, wide?: boolean): Promise<Token>
  /** Makes the next requested token newer than `refused`, with all scopes of the client. */
  widen(refused: Token): void
}

/** The client that requests a token, and the scopes. */
export interface TokenSettings {
  readonly endpoints: Endpoints
  readonly clientId: string
  readonly clientSecret: string
  /** The scopes to request, for example `people.read`; undefined requests all scopes of the client. */
  readonly scopes: readonly string[] | undefined
  readonly mask: Mask
}

/** A POST to the token endpoint. */
export interface TokenRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends a request until its answer can be read; a transient error of `read` makes it send the request again. */
export type SendForToken = <T>(request: TokenRequest, read: (body: string) => T) => Promise<T>

/** The request for a token with these scopes: see `TokenSettings`. */
function tokenRequest(
  { endpoints, clientId, clientSecret }: TokenSettings,
  scopes: readonly string[] | undefined,
): TokenRequest {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  })
  if (scopes !== undefined)
    form.set('scope', scopes.map((scope) => scopeName(endpoints, scope)).join(' '))
  return {
    url: endpoints.tokenUrl,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': endpoints.userAgent,
      accept: 'application/json',
    },
    body: form.toString(),
  }
}

/** The answer of the token endpoint. */
interface TokenGrant extends Omit<Token, 'isNarrow'> {
  /** How long the token is valid; infinite if the answer does not say. */
  readonly lifetimeMs: number
}

/**
 * Parses the answer of the token endpoint; throws a ConnectorError if it has no usable token. If it is not JSON,
 * something else has answered, such as a page about maintenance, so that a later request may help.
 */
function processTokenResponse(text: string): TokenGrant {
  const answer = tryParseJson(text)
  if (!isJsonObject(answer)) {
    throw new ConnectorError(
      'transient',
      'token-not-json',
      'The token endpoint responded with something that is not a JSON object, such as a page of a proxy. Check the authentication address if it does so again.',
    )
  }
  const value = answer['access_token']
  // A token with characters that no header can contain is not usable.
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new ConnectorError(
      'system',
      'no-access-token',
      'The token endpoint responded without a usable access token. Check the authentication address.',
    )
  }
  const type = answer['token_type']
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    throw new ConnectorError(
      'system',
      'no-bearer-token',
      'The token endpoint responded with a token that is not a bearer token. Check the authentication address.',
    )
  }
  const seconds = Number(answer['expires_in'])
  const scope = answer['scope']
  return {
    value,
    lifetimeMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY,
    // An empty string is treated like a missing member: a token without any scope would not have been granted.
    scopes:
      typeof scope === 'string' && scope.trim() !== ''
        ? new Set(scope.trim().split(/\s+/))
        : undefined,
  }
}

/** A token is renewed when this part of its lifetime is left, but at most a minute before its end. */
const MARGIN_MS = 60_000
const MARGIN_PART = 0.1

/**
 * Creates the tokens of one client; the first one is requested when it is needed. `send` sends a request until the
 * answer has the status 200 and `read` accepts its body; it throws a HttpError for another status. `now` is a monotonic
 * clock in milliseconds.
 */
export function createTokens(
  settings: TokenSettings,
  send: SendForToken,
  now: () => number = () => performance.now(),
): Tokens {
  const {
    mask,
    endpoints: { tokenUrl },
  } = settings
  let current: { token: Token; renewAt: number } | undefined
  let pending: Promise<Token> | undefined
  let wide = settings.scopes === undefined
  return { get, renew, widen }

  async function get(): Promise<Token> {
    if (current !== undefined && now() < current.renewAt) return current.token
    return request()
  }

  async function renew(refused: Token, everyScope = false): Promise<Token> {
    // Another stream may have renewed the token in the meantime.
    const isOutdated = current !== undefined && current.token.value !== refused.value
    if (isOutdated && !(everyScope && current?.token.isNarrow)) return get()
    wide ||= everyScope
    current = undefined
    const token = await request()
    if (!everyScope || !token.isNarrow) return token
    // A narrower request of another caller was already being sent.
    current = undefined
    return request()
  }

  function widen(refused: Token): void {
    wide = true
    if (current?.token.value === refused.value) current = undefined
  }

  function request(): Promise<Token> {
    pending ??= fetchToken().finally(() => {
      pending = undefined
    })
    return pending
  }

  async function fetchToken(): Promise<Token> {
    const asked = wide ? undefined : settings.scopes
    try {
      return await fetchScoped(asked)
    } catch (error) {
      // One scope that is not granted makes the service reject the whole request.
      if (asked === undefined || !isScopeRefusal(error)) throw inWords(error, tokenUrl)
      wide = true
      return fetchScoped(undefined).catch((second) => Promise.reject(inWords(second, tokenUrl)))
    }
  }

  async function fetchScoped(scopes: readonly string[] | undefined): Promise<Token> {
    const request = tokenRequest(settings, scopes)
    const { lifetimeMs, ...granted } = await send(request, processTokenResponse)
    mask.add(granted.value)
    const token: Token = { ...granted, isNarrow: scopes !== undefined }
    const margin = Math.min(MARGIN_MS, lifetimeMs * MARGIN_PART)
    current = { token, renewAt: now() + lifetimeMs - margin }
    return token
  }
}

/**
 * Whether a token has one of these scopes, for example `people.read`, or the scope for all collections; true if that
 * is unknown.
 */
export function hasScope(token: Token, endpoints: Endpoints, scopes: readonly string[]): boolean {
  const granted = token.scopes
  if (granted === undefined) return true
  const wider = scopes.map((scope) => scope.replace(/^.*\./, 'all.'))
  return [...scopes, ...wider].some((scope) => granted.has(scopeName(endpoints, scope)))
}

function isScopeRefusal(error: unknown): boolean {
  return (
    error instanceof HttpError && error.is('bad request') && error.oauthError === 'invalid_scope'
  )
}

/** Converts the refusals of the token endpoint that the user can solve. */
function inWords(error: unknown, tokenUrl: string): unknown {
  if (!(error instanceof HttpError)) return error
  const { oauthError } = error
  const isUnknownClient = oauthError === 'invalid_client' || oauthError === 'unauthorized_client'
  if (isUnknownClient || error.is('expired token')) {
    return new ConnectorError(
      'config',
      'client-not-accepted',
      'The service does not accept this client id and client secret for this tenant (invalid_client). Check both, the tenant and the environment.',
    )
  }
  if (error.is('missing')) {
    return new ConnectorError(
      'config',
      'no-token-service',
      `There is no token service at ${tokenUrl}. Check the tenant and the environment. In a custom environment, auth_url is the address without /connect/token.`,
    )
  }
  return new ConnectorError(error.failure, error.id, error.message, { cause: error })
}

/** The error for a stream whose scope the token does not have. */
export function notEntitled(scope: string, endpoints: Endpoints): ConnectorError {
  return new ConnectorError(
    'config',
    'not-entitled',
    `The client is not entitled to the scope ${scopeName(endpoints, scope)}. Ask the operator of the service for it.`,
  )
}
