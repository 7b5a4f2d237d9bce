import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'

const STATUSES = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', 408],
  ['HPE_HEADER_OVERFLOW', 431],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 413],
])

/** Answers what is no whole request, and closes its connection. Returns the status, unless nobody is there. */
export function answerFault(error: NodeJS.ErrnoException, socket: Duplex): number | undefined {
  const status = STATUSES.get(error.code ?? '') ?? 400
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return undefined
  }
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`, () =>
    socket.destroy(),
  )
  return status
}
