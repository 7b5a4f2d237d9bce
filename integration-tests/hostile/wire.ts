import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

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
