import { createServer, type ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { clocking, idOf } from './connector.ts'

/**
 * The service as far as a benchmark needs it. Its pages are made before the first request, so that
 * the server is never what is measured. Any collection is listed, and starts a delta, with the same
 * records; its delta link answers `changes` records on one page. Prints its port.
 */
export interface ServerOptions {
  readonly pages: number
  /** How many of them are kept; the others have their records under further ids. All if left out. */
  readonly kept?: number
  readonly pageSize: number
  readonly delayMs?: number
  /** Records of one answer to a delta link. */
  readonly changes?: number
  /** A token bucket: refused above it with 429 and a Retry-After. */
  readonly rateLimit?: { readonly perSecond: number; readonly bucket: number }
  /** The pages of `clockings` are compressed so, whatever the request says. */
  readonly encoding?: Encoding
}

export type Encoding = 'gzip' | 'br'

const options = JSON.parse(process.argv[2] ?? '{}') as ServerOptions
const { pages, kept = pages, pageSize, delayMs = 0, changes = 0, rateLimit, encoding } = options
const PREFIX = '/connector/svcapi/api/v1'
const CHANGES_AT_ONCE = 10_000
const ID = ',"id":'

const compress = encoding === undefined ? undefined : compressorOf(encoding)
const bodies = Array.from({ length: Math.min(pages, kept) }, (_, number) =>
  pageOf(number * pageSize),
)
const compressed = compress && bodies.map((_, number) => compress(pageWithEnd('clockings', number)))
const token = Buffer.from('{"access_token":"bench-token","expires_in":3600,"token_type":"Bearer"}')
let tokens = rateLimit?.bucket ?? 0
let filledAt = performance.now()

const server = createServer((request, response) => {
  const url = request.url ?? ''
  if (!isAllowed()) response.writeHead(429, { 'retry-after': '1' }).end()
  else if (delayMs > 0) setTimeout(() => answer(url, response), delayMs)
  else answer(url, response)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
})

function answer(url: string, response: ServerResponse): void {
  const collection = /\/v1\/(?:delta\/)?([a-z-]+)/.exec(url)?.[1] ?? ''
  if (url.includes('/connect/token')) send([token], response)
  else if (url.includes('/delta/')) send(changesOf(collection), response)
  else {
    const number = Number(/continuationToken=(\d+)/.exec(url)?.[1] ?? 0)
    const small = collection === 'clockings' ? compressed?.[number] : undefined
    if (small === undefined) send(pageParts(collection, number), response)
    else send([small], response, encoding)
  }
}

function pageParts(collection: string, number: number): readonly [Buffer, Buffer] {
  const next = `"nextLink":"${PREFIX}/${collection}?continuationToken=${number + 1}"`
  const end = number + 1 < pages ? next : deltaLink(collection)
  return [bodyOf(number), Buffer.from(`],${end}}`)]
}

/** A row that a list has twice has moved, so the connector would list everything again: no id may be repeated. */
function bodyOf(number: number): Buffer {
  const body = bodies[number % kept]
  if (body === undefined) return Buffer.from('{"value":[')
  if (number < kept) return body
  const copy = Buffer.from(body)
  for (let i = 0, at = 0; i < pageSize; i++) {
    at = copy.indexOf(ID, at) + ID.length
    copy.write(String(idOf(number * pageSize + i)), at)
  }
  return copy
}

function pageWithEnd(collection: string, number: number): Buffer {
  return Buffer.concat(pageParts(collection, number))
}

/** With the efforts that servers take for what they compress while it is asked for. */
function compressorOf(to: Encoding): (page: Buffer) => Buffer {
  if (to === 'gzip') return (page) => gzipSync(page, { level: 6 })
  return (page) => brotliCompressSync(page, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
}

function send(parts: Iterable<Buffer>, response: ServerResponse, encoded?: Encoding): void {
  const iterator = parts[Symbol.iterator]()
  response.writeHead(200, {
    'content-type': 'application/json',
    ...(encoded && { 'content-encoding': encoded }),
  })
  const more = () => {
    for (let part = iterator.next(); !part.done; part = iterator.next()) {
      if (!response.write(part.value)) return void response.once('drain', more)
    }
    response.end()
  }
  response.socket?.setNoDelay(true)
  more()
}

function pageOf(first: number): Buffer {
  const records = Array.from({ length: pageSize }, (_, i) => clocking(first + i))
  return Buffer.from(`{"value":[${records.join(',')}`)
}

function* changesOf(collection: string): Generator<Buffer> {
  for (let at = 0; at < changes; at += CHANGES_AT_ONCE) {
    const count = Math.min(CHANGES_AT_ONCE, changes - at)
    const items = Array.from(
      { length: count },
      (_, i) => `{"changeType":"InsertOrUpdate","data":${clocking(at + i)}}`,
    )
    yield Buffer.from(`${at === 0 ? '{"value":[' : ','}${items.join(',')}`)
  }
  yield Buffer.from(`${changes === 0 ? '{"value":[' : ''}],${deltaLink(collection)}}`)
}

function deltaLink(collection: string): string {
  return `"deltaLink":"${PREFIX}/delta/${collection}?deltaToken=1"`
}

function isAllowed(): boolean {
  if (rateLimit === undefined) return true
  const now = performance.now()
  tokens = Math.min(rateLimit.bucket, tokens + ((now - filledAt) / 1000) * rateLimit.perSecond)
  filledAt = now
  if (tokens < 1) return false
  tokens -= 1
  return true
}
