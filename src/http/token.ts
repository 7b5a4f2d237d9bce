import { ConnectorError } from '../ground/errors.ts'
import type { Mask } from '../ground/mask.ts'
import { type Endpoints, scopeName } from './endpoints.ts'
import { HttpError } from './http-error.ts'

/** An access token and what it covers. */
export interface Token {
  readonly value: string
  /** Granted scopes; undefined when the answer does not say. */
  readonly scopes: ReadonlySet<string> | undefined
  /** True when the token was asked for by scopes, so that another may cover more. */
  readonly isNarrow: boolean
}

/**
 * The one token of a process, reused by all requests. What the
 * token endpoint refuses is a ConnectorError and not a HttpError: it says nothing of a link.
 */
export interface Tokens {
  /** A token that is valid for now; concurrent callers share one request. */
  get(): Promise<Token>
  /** A newer token than `refused`; `wide` asks for every scope the client is entitled to. */
  renew(refused: Token, wide?: boolean): Promise<Token>
  /** Lets the next one that is asked for be newer than `refused`, for every scope the client is entitled to. */
  widen(refused: Token): void
}

/** Who asks for a token, and for what. */
export interface TokenSettings {
  readonly endpoints: Endpoints
  readonly clientId: string
  readonly clientSecret: string
  /** Scopes to ask for, such as `people.read`; undefined asks for every scope the client has. */
  readonly scopes: readonly string[] | undefined
  readonly mask: Mask
}

/** A POST to the token endpoint. */
export interface TokenRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The request for a token with these scopes, see `TokenSettings`. */
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

/** What the token endpoint has granted. */
interface TokenGrant extends Omit<Token, 'isNarrow'> {
  /** How long the token is valid; infinite when the answer does not say. */
  readonly lifetimeMs: number
}

/** Reads the answer of the token endpoint; throws a ConnectorError when there is no usable token in it. */
function processTokenResponse(text: string): TokenGrant {
  const answer = parsed(text)
  const value = answer?.['access_token']
  // What a header cannot carry is no token.
  if (typeof value !== 'string' || !/^[\x21-\x7e]+$/.test(value)) {
    throw new ConnectorError(
      'system',
      'no-access-token',
      'The token endpoint answered without a usable access token. Check the authentication address.',
    )
  }
  const type = answer?.['token_type']
  if (typeof type === 'string' && type.toLowerCase() !== 'bearer') {
    throw new ConnectorError(
      'system',
      'no-bearer-token',
      'The token endpoint answered with a token that is not a bearer token.',
    )
  }
  const seconds = Number(answer?.['expires_in'])
  const scope = answer?.['scope']
  return {
    value,
    lifetimeMs: Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY,
    // An empty text says nothing either: a token without any scope would not have been granted.
    scopes:
      typeof scope === 'string' && scope.trim() !== ''
        ? new Set(scope.trim().split(/\s+/))
        : undefined,
  }
}

/** A token is renewed when less than this part of its lifetime is left, at most a minute. */
const MARGIN_MS = 60_000
const MARGIN_PART = 0.1

/**
 * Tokens of one client; one is requested when it is first needed. `send` sends the request until it is
 * answered by 200, and reads the answer; it throws a HttpError for another status. `now` is a monotonic
 * clock in milliseconds.
 */
export function createTokens(
  settings: TokenSettings,
  send: (request: TokenRequest) => Promise<string>,
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
    // Another stream may have renewed it in the meantime.
    const isOutdated = current !== undefined && current.token.value !== refused.value
    if (isOutdated && !(everyScope && current?.token.isNarrow)) return get()
    wide ||= everyScope
    current = undefined
    const token = await request()
    if (!everyScope || !token.isNarrow) return token
    // Somebody else's narrower request was already on its way.
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
      // One scope that is not granted rejects the whole request.
      if (asked === undefined || !isScopeRefusal(error)) throw inWords(error, tokenUrl)
      wide = true
      return fetchScoped(undefined).catch((second) => Promise.reject(inWords(second, tokenUrl)))
    }
  }

  async function fetchScoped(scopes: readonly string[] | undefined): Promise<Token> {
    const { lifetimeMs, ...granted } = processTokenResponse(
      await send(tokenRequest(settings, scopes)),
    )
    mask.add(granted.value)
    const token: Token = { ...granted, isNarrow: scopes !== undefined }
    const margin = Math.min(MARGIN_MS, lifetimeMs * MARGIN_PART)
    current = { token, renewAt: now() + lifetimeMs - margin }
    return token
  }
}

/**
 * Whether a token holds one of these scopes, such as `people.read`, or that of all collections; true when
 * that is not known.
 */
export function hasScope(token: Token, endpoints: Endpoints, scopes: readonly string[]): boolean {
  const granted = token.scopes
  if (granted === undefined) return true
  const wider = scopes.map((scope) => scope.replace(/^.*\./, 'all.'))
  return [...scopes, ...wider].some((scope) => granted.has(scopeName(endpoints, scope)))
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

function isScopeRefusal(error: unknown): boolean {
  return (
    error instanceof HttpError && error.is('bad request') && error.oauthError === 'invalid_scope'
  )
}

/** The refusals of the token endpoint that the user can mend. */
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

/** The failure of a stream whose scope the token does not cover. */
export function notEntitled(scope: string, endpoints: Endpoints): ConnectorError {
  return new ConnectorError(
    'config',
    'not-entitled',
    `The client is not entitled to the scope ${scopeName(endpoints, scope)}. Ask the operator of the service for it, or deselect the stream.`,
  )
}
