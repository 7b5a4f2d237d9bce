import { createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { scopeNames, scopesOf } from '../collections/collections.ts'
import { json, ServiceError, type ServiceRequest, type ServiceResponse } from '../http/messages.ts'
import type { ClientOptions, ResolvedOptions } from '../options.ts'

/** What an access token allows. */
export interface Grant {
  readonly client: string
  readonly scopes: ReadonlySet<string>
  readonly expiresAt: number
}

/** The token service of one tenant. */
export interface Tokens {
  /** Handles `POST /connect/token`. */
  handle(request: ServiceRequest): ServiceResponse
  /** The grant of a bearer token, unless it is unknown or has expired. */
  check(authorization: string | undefined): Grant | undefined
  /** Expires all access tokens. */
  expire(): void
}

/** How long an access token lasts on the virtual clock. */
const lifetimeSeconds = 1800

/** Creates the token service, without tokens. They expire by the virtual clock. */
export function createTokens(options: ResolvedOptions, clock: Clock): Tokens {
  const grants = new Map<string, Grant>()
  const key = randomBytes(32)
  const time = () => clock.now().getTime()

  const issue = (client: ClientOptions, scopes: readonly string[]) => {
    for (const [token, { expiresAt }] of grants) if (expiresAt <= time()) grants.delete(token)
    const expiresAt = time() + lifetimeSeconds * 1000
    const token = signedToken(key, {
      client_id: client.id,
      scope: scopes,
      exp: Math.floor(expiresAt / 1000),
    })
    grants.set(token, { client: client.id, scopes: new Set(scopes), expiresAt })
    return token
  }

  return {
    handle(request) {
      const type = request.headers['content-type'] ?? ''
      const form = new URLSearchParams(request.body)
      if (!type.startsWith('application/x-www-form-urlencoded')) return refusal('invalid_request')
      if (form.get('grant_type') !== 'client_credentials') return refusal('unsupported_grant_type')
      const client = options.clients.find(({ id }) => id === form.get('client_id'))
      const known = client && client.secret === form.get('client_secret')
      if (!known || request.tenant !== options.tenant) return refusal('invalid_client')
      const entitled = entitledScopes(client, options)
      const asked = form.get('scope')?.split(' ').filter(Boolean) ?? []
      if (asked.some((scope) => !entitled.includes(scope))) return refusal('invalid_scope')
      const scopes = asked.length > 0 ? asked : entitled
      const granted = {
        access_token: issue(client, scopes),
        expires_in: lifetimeSeconds,
        token_type: 'Bearer',
        scope: scopes.join(' '),
      }
      return json(JSON.stringify(granted))
    },
    check(authorization) {
      const grant = grants.get(authorization?.match(/^Bearer (\S+)$/i)?.[1] ?? '')
      return grant && grant.expiresAt > time() ? grant : undefined
    },
    expire: () => grants.clear(),
  }
}

/** The full scope names that a client may ask for. */
function entitledScopes({ scopes }: ClientOptions, options: ResolvedOptions): string[] {
  const full = (name: string) => {
    if (name.startsWith('connector-')) return name
    return `connector-${options.apiName}-${name}${/\.(read|write)$/.test(name) ? '' : '.read'}`
  }
  const names = scopeNames(options.dialect)
  const reading = names.map(full)
  if (scopes === undefined) return reading
  if (scopes !== 'all') return scopes.map(full)
  const writing = [...names, 'webhooks', 'all'].map((name) => full(`${name}.write`))
  return [full('all'), ...reading, full('webhooks'), ...writing]
}

/** The discovery document of the tenant's token service at `issuer`. */
export function discovery(issuer: string, options: ResolvedOptions): ServiceResponse {
  const document = {
    issuer,
    token_endpoint: `${issuer}/connect/token`,
    grant_types_supported: ['client_credentials'],
    token_endpoint_auth_methods_supported: ['client_secret_post'],
    scopes_supported: entitledScopes({ id: '', secret: '', scopes: 'all' }, options),
  }
  return json(JSON.stringify(document))
}

function refusal(error: string): ServiceResponse {
  return json(JSON.stringify({ error }), 400)
}

function signedToken(key: Buffer, claims: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jti = randomBytes(8).toString('hex')
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...claims, jti })}`
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`
}

/** The grant of the token that a request carries; throws 401 if there is none. */
export function checkToken(tokens: Tokens, request: ServiceRequest): Grant {
  const grant = tokens.check(request.headers.authorization)
  if (!grant) throw new ServiceError(401, 'The access token is missing, expired or not valid')
  return grant
}

/** What a scope allows: every GET, or every POST, PUT and DELETE. */
export type Access = 'read' | 'write'

/**
 * Checks that a grant covers the collection for one of the kinds of access, and returns the client. A
 * missing scope is a 401 in the specification and a 403 in the documentation.
 */
export function checkScope(
  options: ResolvedOptions,
  grant: Grant,
  collection: string,
  accesses: readonly Access[],
): string {
  const { apiName, dialect } = options
  const names = [...scopesOf(dialect, collection), 'all']
  const scopes = names.flatMap((name) =>
    accesses.map((access) => `connector-${apiName}-${name}.${access}`),
  )
  if (scopes.some((scope) => grant.scopes.has(scope))) return grant.client
  const status = dialect === 'specification' ? 401 : 403
  throw new ServiceError(status, `The access token has no scope for ${collection}`)
}
