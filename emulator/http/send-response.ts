import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { preferredEncoding } from './accept-encoding.ts'
import type { FaultKind, FaultOptions } from './faults.ts'
import type { ServiceResponse } from './http-types.ts'

/**
 * A response with what is added on its way: the time of the service, the encoding that the client
 * accepts, and a fault.
 */
export interface OutgoingResponse {
  readonly answer: ServiceResponse
  readonly date: Date
  /** The client's `Accept-Encoding`, or undefined when nothing is to be compressed. */
  readonly encodings: string | undefined
  readonly fault?: { readonly kind: FaultKind; readonly options: FaultOptions } | undefined
}

const slowParts = 10

/** Writes a response to the client, with its fault. */
export async function sendResponse(
  response: ServerResponse,
  outgoing: OutgoingResponse,
): Promise<void> {
  const { answer, date, fault } = outgoing
  if (fault?.kind === 'after-last-byte') return breakOff(response)
  const headers = { date: date.toUTCString(), ...answer.headers }
  if (typeof answer.body !== 'string' && !Buffer.isBuffer(answer.body)) {
    response.writeHead(answer.status, headers)
    for await (const part of answer.body) await write(response, part)
    response.end()
    return
  }
  const whole = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
  const { body, encoding } = encode(whole, outgoing.encodings)
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

/** Breaks the connection so that the client sees a reset. */
export function breakOff(response: ServerResponse): void {
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
  // An immediate reset would discard bytes that are still being sent.
  response.write(part, () => setTimeout(cut, 20))
}

function encode(body: Buffer, accepted: string | undefined): { body: Buffer; encoding?: string } {
  const encoding = accepted === undefined ? undefined : preferredEncoding(accepted)
  if (encoding === undefined) return { body }
  return { body: encoding === 'br' ? brotli(body) : gzipSync(body, { level: 1 }), encoding }
}

/** Node's default takes as much time for a page as all else of a sync. */
function brotli(body: Buffer): Buffer {
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
}
