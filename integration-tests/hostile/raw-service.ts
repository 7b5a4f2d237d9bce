import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { listenOn } from '../../emulator/http/http-server.ts'

/** A request as it came over the wire. */
interface Asked {
  readonly method: string
  /** Path and query as sent. */
  readonly target: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

const END_OF_HEAD = '\r\n\r\n'

/** The requests of a connection, one after the other, until the client closes it. */
async function* readRequests(socket: Socket): AsyncGenerator<Asked> {
  let received = ''
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received += chunk.toString('latin1')
      for (let next = firstRequest(received); next !== undefined; next = firstRequest(received)) {
        received = received.slice(next.length)
        yield next.asked
      }
    }
  } catch {
    // A connection that broke brings no more requests.
  }
}

function firstRequest(text: string): { asked: Asked; length: number } | undefined {
  const end = text.indexOf(END_OF_HEAD)
  if (end < 0) return undefined
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const [method = '', target = ''] = first.split(' ')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const at = line.indexOf(':')
      return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()]
    }),
  )
  const start = end + END_OF_HEAD.length
  const length = start + Number(headers.get('content-length') ?? 0)
  if (text.length < length) return undefined
  return { asked: { method, target, headers, body: text.slice(start, length) }, length }
}

/** What goes over the wire: bytes as they are, or somebody who takes the socket over. */
export type Wire = string | Buffer | ((socket: Socket) => void | Promise<void>)

/** Answers a request; `nth` counts the requests with the same path and query, from 1. */
export type Answers = (asked: Asked, nth: number) => Wire

/** A service of which every byte is made by the test, for answers that no HTTP library would send. */
export interface RawService {
  readonly url: string
  readonly requests: readonly Asked[]
  close(): Promise<void>
}

export interface RawServiceOptions {
  /** Key and certificate, both PEM; plain http without them. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

/** Serves on 127.0.0.1 until `close`. */
export async function startRawService(
  answers: Answers,
  { tls }: RawServiceOptions = {},
): Promise<RawService> {
  const requests: Asked[] = []
  const sockets = new Set<Socket>()
  const serve = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A client that breaks off is what these tests are about.
    socket.on('error', () => {})
    void talk(socket)
  }
  const server: Server = tls ? createTlsServer(tls, serve) : createServer(serve)
  server.on('connection', (socket: Socket) => socket.on('error', () => {}))
  await listenOn(server as never, 0)
  const { port } = server.address() as { port: number }
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }

  async function talk(socket: Socket): Promise<void> {
    for await (const asked of readRequests(socket)) {
      requests.push(asked)
      const nth = requests.filter(({ target }) => target === asked.target).length
      const wire = answers(asked, nth)
      if (typeof wire === 'function') await wire(socket)
      else socket.write(wire)
    }
  }
}

type Headers = Readonly<Record<string, string | number>>

/** A whole answer; `headers` override what is usual. A header that is set to an empty text is left out. */
export function reply(
  status: number | string,
  body: string | Buffer,
  headers: Headers = {},
): Buffer {
  const bytes = Buffer.from(body as Buffer)
  const usual = {
    'content-type': 'application/json; charset=utf-8',
    'content-length': bytes.length,
  }
  return Buffer.concat([head(status, { ...usual, ...headers }), bytes])
}

/** Status line and headers, up to the empty line. */
export function head(status: number | string, headers: Headers = {}): Buffer {
  const lines = Object.entries(headers).filter(([, value]) => value !== '')
  const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return Buffer.from(
    `HTTP/1.1 ${status}${/ /.test(String(status)) ? '' : ' X'}\r\n${text}\r\n`,
    'latin1',
  )
}

/** A page of the service. */
export function page(records: readonly object[], links: object = {}): Buffer {
  return reply(200, pageBody(records, links))
}

export function pageBody(records: readonly object[], links: object = {}): string {
  return JSON.stringify({ value: records, ...links })
}

/** A plain record. */
export function rowOf(id: number): object {
  return { id, changeVersion: `v${String(id).padStart(6, '0')}`, name: { default: `Row ${id}` } }
}

/** A compressed answer. */
export function gzipped(body: string | Buffer, headers: Headers = {}): Buffer {
  return reply(200, gzipSync(body), { 'content-encoding': 'gzip', ...headers })
}

/** Writes an answer in chunks for as long as `parts` has some and the client listens. */
export function chunked(parts: Iterable<string | Buffer>, headers: Headers = {}) {
  return async (socket: Socket) => {
    socket.write(head(200, { 'transfer-encoding': 'chunked', ...headers }))
    for (const part of parts) {
      const bytes = Buffer.from(part as Buffer)
      const framed = Buffer.concat([
        Buffer.from(`${bytes.length.toString(16)}\r\n`),
        bytes,
        Buffer.from('\r\n'),
      ])
      if (!(await written(socket, framed))) return
    }
    socket.write('0\r\n\r\n')
  }
}

/** The same part over and over, `times` times or for ever, behind a beginning. */
export function* repeated(
  start: string,
  part: string | Buffer,
  times = Number.POSITIVE_INFINITY,
  end = '',
): Generator<string | Buffer> {
  if (start !== '') yield start
  for (let i = 0; i < times; i++) yield part
  if (end !== '') yield end
}

/** Sends these bytes and closes the connection, or breaks it. */
export function cut(bytes: string | Buffer, how: 'close' | 'break' = 'close') {
  return (socket: Socket) => {
    // A reset that follows too closely would take bytes with it that are still on their way.
    socket.write(bytes, () =>
      setTimeout(() => (how === 'close' ? socket.end() : socket.resetAndDestroy()), 20),
    )
  }
}

function written(socket: Socket, bytes: Buffer): Promise<boolean> {
  if (socket.destroyed) return Promise.resolve(false)
  if (socket.write(bytes)) return Promise.resolve(true)
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve(!socket.destroyed)
    }
    socket.once('drain', done)
    socket.once('close', done)
  })
}

const SPACES = Buffer.alloc(65_536, ' ')
/** 64 KiB of text. */
export const LETTERS = Buffer.alloc(65_536, 'x')
/** What is said of a body that continues without anything in it. */
export const NO_END = 'a page without an end'

/** A body that has to be given up, and what that may cost. */
export interface EndlessBody {
  readonly name: string
  readonly wire: () => Wire
  /** Words of the error. */
  readonly words: string
  /** The memory that the connector may have at most; `npm run bench -- memory` measures it. */
  readonly megabytes: number
}

const body = (name: string, words: string, megabytes: number, wire: () => Wire): EndlessBody => ({
  name,
  wire,
  words,
  megabytes,
})

export const endlessBodies: readonly EndlessBody[] = [
  body('of spaces', NO_END, 150, () => chunked(repeated('', SPACES))),
  body('of spaces within a list', NO_END, 150, () => chunked(repeated('{"value":[', SPACES))),
  body('of one text', NO_END, 150, () => chunked(repeated('{"x":"', LETTERS))),
  body('of members nobody knows', NO_END, 150, () =>
    chunked(repeated('{"x":[0', ',1'.repeat(30_000))),
  ),
  body('of one name', 'larger than', 200, () => chunked(repeated('{"', LETTERS))),
  body('of one link', 'larger than', 200, () => chunked(repeated('{"nextLink":"', LETTERS))),
  body('of brackets', 'nested deeper', 150, () => chunked(repeated('{"x":', '['.repeat(30_000)))),
  body('that is not JSON', 'not JSON', 150, () => chunked(repeated('', LETTERS))),
  body('of 200 MB in 200 KB of gzip', NO_END, 150, () =>
    reply(200, gzipSync(Buffer.alloc(200 * 1024 ** 2, ' ')), { 'content-encoding': 'gzip' }),
  ),
  body('of a gigabyte in one text', 'larger than', 200, () =>
    chunked(repeated('{"value":[{"id":1,"x":"', LETTERS, 16_384, '"}]}')),
  ),
]

/** References, which are parsed whole. */
export const endlessReferences = body('of references', 'larger than 8 MiB', 256, () =>
  chunked(repeated('[0', ',1'.repeat(30_000))),
)

// Chunks of one byte; each becomes a buffer of its own.
const CRUMBS = 10_000
const crumbs = Buffer.from('1\r\n \r\n'.repeat(CRUMBS))

/** An empty page in chunks of one byte, so many bytes in all. */
export function inCrumbs(bytes: number): Wire {
  const start = '{"value":['
  return async (socket: Socket) => {
    socket.write(head(200, { 'transfer-encoding': 'chunked' }))
    socket.write(`${start.length.toString(16)}\r\n${start}\r\n`)
    for (let sent = 0; sent < bytes; sent += CRUMBS) {
      if (!socket.write(crumbs)) await new Promise((resolve) => socket.once('drain', resolve))
    }
    socket.write('2\r\n]}\r\n0\r\n\r\n')
  }
}
