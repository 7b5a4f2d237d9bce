import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Wire } from './raw-service.ts'
import { chunked, head, repeated, reply } from './wire.ts'

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
export const endlessReferences = body('of references', NO_END, 300, () =>
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
