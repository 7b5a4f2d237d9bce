import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { Clock } from '../clock.ts'
import type { ResolvedOptions } from '../options.ts'
import {
  type Disturbance,
  effectOf,
  type FaultOptions,
  type Faults,
  type WireFaultKind,
} from './faults.ts'
import {
  decode,
  errorBody,
  json,
  type ListFault,
  parseQuery,
  ServiceError,
  type ServiceRequest,
  type ServiceResponse,
} from './messages.ts'
import { respelled } from './spelling.ts'

/**
 * Binds a server to a port of 127.0.0.1 (0: any free one) and resolves when it listens; rejects
 * when it cannot.
 */
export async function listenOn(server: Server, port: number): Promise<Server> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const advice = `Port ${port} is in use: choose other ports with --port and --control-port.`
      reject(error.code === 'EADDRINUSE' ? new Error(advice, { cause: error }) : error)
    })
    server.listen(port, '127.0.0.1', resolve)
  })
  return server
}

/** The origin of a listening server. */
export function originOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The 429 for a request that comes too early, otherwise undefined. */
export type RateLimiter = () => ServiceResponse | undefined

/** A token bucket in real time; each request uses the present options. */
export function createRateLimiter(options: ResolvedOptions): RateLimiter {
  let level: number | undefined
  let last = performance.now()
  return () => {
    const limit = options.rateLimit
    if (!limit) return undefined
    const now = performance.now()
    level = Math.min(
      limit.bucket,
      (level ?? limit.bucket) + ((now - last) / 1000) * limit.perSecond,
    )
    last = now
    if (level >= 1) {
      level -= 1
      return undefined
    }
    const seconds = Math.max(1, Math.ceil((1 - level) / limit.perSecond))
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      ...(limit.retryAfter !== false && { 'retry-after': String(seconds) }),
    }
    return { status: 429, headers, body: errorBody(429, 'Too many requests') }
  }
}

/** The encodings that the service offers, the best first. */
const offered = ['br', 'gzip'] as const

/** An encoding that a response can have. */
type Encoding = (typeof offered)[number]

/**
 * The encoding that a client prefers by its header `Accept-Encoding` (RFC 9110, 12.5.3), or undefined
 * when it accepts none of them.
 */
function preferredEncoding(header: string): Encoding | undefined {
  const weights = new Map(header.split(',').map(weightOf))
  const weight = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0
  const [best] = offered.toSorted((a, b) => weight(b) - weight(a))
  return best && weight(best) > 0 ? best : undefined
}

function weightOf(part: string): [name: string, weight: number] {
  const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return [name, weight === undefined ? 1 : Number(weight)]
}

/**
 * A response with what the server adds: the service's time, the encoding that the client accepts, and a
 * fault.
 */
interface OutgoingResponse {
  readonly answer: ServiceResponse
  readonly date: Date
  /** The client's `Accept-Encoding`, or undefined when nothing is to be compressed. */
  readonly encodings: string | undefined
  /** Whether a body of JSON begins with a byte order mark. */
  readonly hasMark: boolean
  /** How a body of JSON is spelled, as `respelled` counts the ways; undefined as it is. */
  readonly spelling: number | undefined
  readonly fault?: { readonly kind: WireFaultKind; readonly options: FaultOptions } | undefined
}

const slowParts = 10

/** Writes a response to the client, with its fault. */
async function sendResponse(response: ServerResponse, outgoing: OutgoingResponse): Promise<void> {
  const { answer, date, fault } = outgoing
  if (fault?.kind === 'after-last-byte') return breakOff(response)
  const headers = { date: date.toUTCString(), ...answer.headers }
  if (typeof answer.body !== 'string' && !Buffer.isBuffer(answer.body)) {
    response.writeHead(answer.status, headers)
    for await (const part of answer.body) await write(response, part)
    response.end()
    return
  }
  const { spelling } = outgoing
  const isSpelled = spelling !== undefined && isJson(answer)
  const text = isSpelled ? respelled(answer.body.toString(), spelling) : answer.body
  const whole = typeof text === 'string' ? Buffer.from(text) : text
  const marked = outgoing.hasMark && isJson(answer) ? Buffer.concat([mark, whole]) : whole
  const { body, encoding } = encode(marked, outgoing.encodings)
  const bodiless = answer.status === 204 || answer.status === 304
  response.writeHead(answer.status, {
    ...headers,
    ...(encoding && { 'content-encoding': encoding, vary: 'accept-encoding' }),
    ...(!bodiless && { 'content-length': body.length }),
  })
  if (fault?.kind === 'slow') return writeSlowly(response, body, fault.options.ms ?? 1000)
  if (fault) return cutShort(response, body, fault)
  response.end(bodiless ? undefined : body)
}

const mark = Buffer.from('\ufeff')

function isJson({ headers }: ServiceResponse): boolean {
  return headers?.['content-type']?.includes('json') === true
}

/** Breaks the connection so that the client sees a reset. */
function breakOff(response: ServerResponse): void {
  response.socket?.resetAndDestroy()
}

async function write(response: ServerResponse, part: Buffer): Promise<void> {
  if (response.destroyed || response.write(part)) return
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go)
      resolve()
    }
    response.once('drain', go).once('close', go)
  })
}

async function writeSlowly(response: ServerResponse, body: Buffer, ms: number): Promise<void> {
  const size = Math.max(1, Math.ceil(body.length / slowParts))
  for (let at = 0; at < body.length && !response.destroyed; at += size) {
    response.write(body.subarray(at, at + size))
    await sleep(ms / slowParts)
  }
  response.end()
}

function cutShort(
  response: ServerResponse,
  body: Buffer,
  { kind, options }: NonNullable<OutgoingResponse['fault']>,
): void {
  const part = body.subarray(0, options.afterBytes ?? Math.floor(body.length / 2))
  const cut = kind === 'truncate' ? () => response.socket?.end() : () => breakOff(response)
  // A reset at once would discard bytes that are still being sent.
  response.write(part, () => setTimeout(cut, 20))
}

function encode(body: Buffer, accepted: string | undefined): { body: Buffer; encoding?: string } {
  const encoding = accepted === undefined ? undefined : preferredEncoding(accepted)
  if (encoding === undefined) return { body }
  return { body: encoding === 'br' ? brotli(body) : gzipSync(body, { level: 1 }), encoding }
}

/** At a low quality, because Node's default would take as much time as everything else in a sync. */
function brotli(body: Buffer): Buffer {
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
}

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

/** The options of the server. */
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

// Large enough that the service itself, not Node's parser, answers 414 to a request line that is too long.
const largestHead = 1_048_576

/** Opens the service's socket on loopback and resolves when it listens. */
export function listen(parts: ServerParts, port: number): Promise<Server> {
  let number = 0
  const server = createServer({ maxHeaderSize: largestHead }, (message, response) => {
    number += 1
    respond(parts, number, message, response).catch((error: unknown) =>
      fail(response, error, dateOf(parts)),
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
  takeEffect(parts, request, effectOf(disturbance))
  const fault = disturbance?.type === 'fault' ? disturbance : undefined
  if (fault?.kind === 'hang') return
  if (fault?.kind === 'reset') return breakOff(response)
  const answer =
    disturbedResponse(disturbance, request) ??
    ordinaryResponse(parts, { ...request, listFault: listFaultOf(disturbance) })
  entry.status = answer.status
  const encodings = options.compress ? headerText(message, 'accept-encoding') : undefined
  const date = dateOf(parts)
  await sendResponse(response, {
    answer,
    date,
    encodings,
    hasMark: options.byteOrderMark,
    spelling: options.jsonSpelling === 'varied' ? number : undefined,
    fault: fault?.kind === 'html' ? undefined : fault,
  })
}

/** The time that the service says it has. */
function dateOf({ options: { dateHeader }, clock }: ServerParts): Date {
  return dateHeader === undefined ? clock.now() : new Date(dateHeader)
}

/** Executes a request, now or later, whatever the answer is. */
function takeEffect(parts: ServerParts, request: ServiceRequest, ms: number | undefined): void {
  if (ms === undefined) return
  const handle = () => void handled(parts, request)
  if (ms === 0) handle()
  else setTimeout(handle, ms).unref()
}

function listFaultOf(disturbance: Disturbance | undefined): ListFault | undefined {
  return disturbance?.type === 'list' ? disturbance.fault : undefined
}

function disturbedResponse(disturbance: Disturbance | undefined, request: ServiceRequest) {
  if (disturbance?.type === 'response') return disturbance.handler(request)
  if (disturbance?.type !== 'fault' || disturbance.kind !== 'html') return undefined
  const body = '<!DOCTYPE html><html><body><h1>Scheduled maintenance</h1></body></html>'
  return { status: 200, headers: { 'content-type': 'text/html' }, body }
}

function ordinaryResponse(parts: ServerParts, request: ServiceRequest): ServiceResponse {
  const limited = parts.limiter()
  return limited ?? handled(parts, request)
}

/** The service's answer, including refusals. */
function handled(parts: ServerParts, request: ServiceRequest): ServiceResponse {
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
