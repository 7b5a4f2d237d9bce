import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../clock.ts'
import type { ResolvedOptions } from '../options.ts'
import type { Disturbance, Faults } from './faults.ts'
import { json, type ServiceRequest, type ServiceResponse } from './http-types.ts'
import { listenOn } from './listen-on.ts'
import { decode, parseQuery } from './query-parameters.ts'
import type { RateLimiter } from './rate-limiter.ts'
import { breakOff, sendResponse } from './send-response.ts'
import { errorBody, ServiceError } from './service-error.ts'

/**
 * One request in the log. The status is 0 until there is a response, and stays 0 when there is none.
 */
export interface LoggedRequest {
  readonly number: number
  readonly method: string
  readonly path: string
  /** As sent, without the question mark. */
  readonly query: string
  status: number
  /** The time of the virtual clock, ISO 8601. */
  readonly at: string
  readonly userAgent: string | undefined
}

/** What the server is made of. */
export interface ServerParts {
  readonly options: ResolvedOptions
  readonly clock: Clock
  /** The path of the API, which is left out of the paths of requests. */
  readonly prefix: string
  readonly faults: Faults
  readonly limiter: RateLimiter
  /** Called before a request is handled. */
  announce(entry: LoggedRequest): void
  /** Handles a request that meets no fault and no rate limit; a `ServiceError` is a refusal. */
  handle(request: ServiceRequest): ServiceResponse
}

const largestBody = 1_048_576

// A request line that is too long is answered by the service, with 414, and not by the parser.
const largestHead = 1_048_576

/** Opens the service's socket on loopback and resolves when it listens. */
export function listen(parts: ServerParts, port: number): Promise<Server> {
  let number = 0
  const server = createServer({ maxHeaderSize: largestHead }, (message, response) => {
    number += 1
    respond(parts, number, message, response).catch((error: unknown) =>
      fail(response, error, parts.clock.now()),
    )
  })
  server.keepAliveTimeout = 60_000
  return listenOn(server, port)
}

async function respond(
  parts: ServerParts,
  number: number,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { options, clock, faults } = parts
  const body = await readBody(message)
  const request = requestOf(parts.prefix, number, message, body)
  const entry: LoggedRequest = {
    number,
    method: request.method,
    path: request.path,
    query: request.query,
    status: 0,
    at: clock.now().toISOString(),
    userAgent: message.headers['user-agent'],
  }
  parts.announce(entry)
  if (options.latencyMs > 0) await sleep(options.latencyMs)
  const disturbance = faults.take(request)
  const fault = disturbance?.type === 'fault' ? disturbance : undefined
  if (fault?.kind === 'hang') return
  if (fault?.kind === 'reset') return breakOff(response)
  const answer = disturbedResponse(disturbance, request) ?? ordinaryResponse(parts, request)
  entry.status = answer.status
  const encodings = options.compress ? headerText(message, 'accept-encoding') : undefined
  const date = clock.now()
  await sendResponse(response, {
    answer,
    date,
    encodings,
    fault: fault?.kind === 'html' ? undefined : fault,
  })
}

function disturbedResponse(disturbance: Disturbance | undefined, request: ServiceRequest) {
  if (disturbance?.type === 'response') return disturbance.handler(request)
  if (disturbance?.kind !== 'html') return undefined
  const body = '<!DOCTYPE html><html><body><h1>Scheduled maintenance</h1></body></html>'
  return { status: 200, headers: { 'content-type': 'text/html' }, body }
}

function ordinaryResponse(parts: ServerParts, request: ServiceRequest): ServiceResponse {
  const limited = parts.limiter()
  if (limited) return limited
  try {
    return parts.handle(request)
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    const answer = json(error.body, error.status)
    return { ...answer, headers: { ...answer.headers, ...error.headers } }
  }
}

function requestOf(
  prefix: string,
  number: number,
  message: IncomingMessage,
  body: string,
): ServiceRequest {
  const target = message.url ?? '/'
  const at = target.indexOf('?')
  const whole = at < 0 ? target : target.slice(0, at)
  const query = at < 0 ? '' : target.slice(at + 1)
  const [, tenant, below] = /^\/tenants\/([^/]+)(\/.*)$/.exec(whole) ?? []
  const api = whole.startsWith(`${prefix}/`)
  return {
    number,
    method: message.method ?? 'GET',
    target,
    path: api ? whole.slice(prefix.length) : (below ?? whole),
    host: api ? 'api' : below === undefined ? undefined : 'authentication',
    tenant: tenant && decode(tenant),
    query,
    parameters: parseQuery(query),
    headers: message.headers,
    body,
  }
}

async function readBody(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    size += part.length
    if (size > largestBody) throw new ServiceError(400, 'The body is too large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

function headerText(message: IncomingMessage, name: string): string | undefined {
  const value = message.headers[name]
  return Array.isArray(value) ? value.join(',') : value
}

function fail(response: ServerResponse, error: unknown, date: Date): void {
  if (response.headersSent) {
    breakOff(response)
    return
  }
  const known = error instanceof ServiceError
  const status = known ? error.status : 500
  const message = error instanceof Error ? error.message : 'Internal error'
  response.writeHead(status, {
    date: date.toUTCString(),
    'content-type': 'application/json; charset=utf-8',
  })
  response.end(known ? error.body : errorBody(status, message))
}
